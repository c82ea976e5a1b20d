import { closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { watchCommands } from "../test/watch-commands.ts";
import { listJobs } from "./list-jobs.ts";

afterAll(closeQueues);

const mail = { to: "ada@example.com", subject: "Hello", text: "Hello.", workspaceId: "ws-1" };
const addFound = () => enqueue(emailContract, "sendEmail", mail);
const addPlain = () => enqueue(emailContract, "sendDigest", { recipient: "ada@example.com" });

async function times(count: number, add: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index++) await add();
}

test("a job that is to be found costs one command more, and three within Redis for each thing that it is found by", async () => {
  await Promise.all([addFound(), addPlain()]);
  const found = await watchCommands(() => times(10, addFound));
  const plain = await watchCommands(() => times(10, addPlain));
  const sent = (commands: typeof found) => commands.filter(({ isOfScript }) => !isOfScript).map(({ name }) => name);
  expect(sent(plain)).toEqual(Array(10).fill("evalsha"));
  expect(sent(found)).toEqual(Array(20).fill("evalsha"));
  const ofIndex = found.filter(({ isOfScript, args }) => isOfScript && args[0]?.includes("_search"));
  expect(ofIndex).toHaveLength(10 * 2 * 3);
  const within = (commands: typeof found) => commands.filter(({ isOfScript }) => isOfScript).length;
  // Its id is a given one, for which BullMQ looks whether it is taken.
  expect(within(found) - ofIndex.length).toBe(within(plain) + 10);
});

test("a job is found also when it was the first after Redis lost its scripts", async () => {
  await addFound();
  const client = await emailQueue.getBackend().client;
  const named = (jobId: string) => enqueue(emailContract, "sendEmail", { ...mail, to: "lost@example.com" }, { jobId });
  await named("before");
  await client.runCommand("script", ["flush"]);
  await named("named");
  await client.runCommand("script", ["flush"]);
  const { jobId } = await enqueue(emailContract, "sendEmail", { ...mail, to: "lost@example.com" });
  const found = async () => {
    const { jobs } = await listJobs({ field: { name: "to", value: "lost@example.com" } });
    return jobs.map((job) => job.jobId).sort();
  };
  await expect.poll(found).toEqual([jobId, "before", "named"].sort());
});
