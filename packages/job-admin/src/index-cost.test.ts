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

test("jobs that came in bulk are found, under ids of their own or given ones, for one command more each and no wait more", async () => {
  const of = (to: string) => ({ type: "sendEmail", data: { ...mail, to, workspaceId: "ws-bulk" } }) as const;
  const data = of("bulk@example.com");
  const commands = await watchCommands(async () => {
    const [, given] = await emailQueue.addBulk([
      { name: "sendEmail", data },
      { name: "sendEmail", data, opts: { jobId: "in-bulk" } },
      { name: "sendDigest", data: { type: "sendDigest", data: { recipient: "ada@example.com" } } },
    ]);
    expect(given?.id).toBe("in-bulk");
  });
  const sent = commands.filter(({ isOfScript }) => !isOfScript).map(({ name }) => name);
  expect(sent.filter((name) => /^eval(sha)?$/.test(name))).toHaveLength(3 + 2);
  await emailQueue.addBulk([{ name: "sendEmail", data: of("later@example.com"), opts: { jobId: "in-bulk" } }]);
  const { jobs } = await listJobs({ workspaceId: "ws-bulk" });
  expect(jobs).toHaveLength(2);
  expect(jobs.map(({ jobId }) => jobId)).toContain("in-bulk");
  // An id that was taken keeps the entries that it has.
  expect((await listJobs({ field: { name: "to", value: "later@example.com" } })).jobs).toEqual([]);
});

test("of a bulk that names an id twice the first is stored, and nobody finds it by what the second says", async () => {
  const of = (workspaceId: string) => ({ type: "sendEmail", data: { ...mail, workspaceId } }) as const;
  const opts = { jobId: "twice", timestamp: Date.now() };
  await emailQueue.addBulk(["ws-first", "ws-second"].map((id) => ({ name: "sendEmail" as const, data: of(id), opts })));
  expect((await listJobs({ workspaceId: "ws-first" })).jobs).toMatchObject([{ jobId: "twice" }]);
  expect((await listJobs({ workspaceId: "ws-second" })).jobs).toEqual([]);
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
