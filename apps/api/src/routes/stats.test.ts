import { emailQueue } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { countMany } from "../../../../packages/job-admin/test/many-jobs.ts";
import { watchCommands } from "../../../../packages/job-admin/test/watch-commands.ts";
import { bearer, useTestApp } from "../../test/test-app.ts";

const waiting = emailQueue.toKey("wait");
const app = useTestApp();

afterAll(async () => {
  await (await emailQueue.getBackend().client).runCommand("del", [waiting]);
});

/** Lets so many jobs wait, and asks for statistics: what is answered, and the commands that Redis carries out for it. */
async function askWith(jobs: number) {
  const client = await emailQueue.getBackend().client;
  await client.runCommand("del", [waiting]);
  await client.runCommand("rpush", [waiting, ...Array.from({ length: jobs }, (_, index) => `many-${index}`)]);
  let response: Awaited<ReturnType<ReturnType<typeof app>["inject"]>> | undefined;
  const commands = await watchCommands(async () => {
    response = await app().inject({ url: "/jobs/stats", headers: bearer });
  });
  expect(response?.json().total).toMatchObject({ pending: jobs, total: jobs });
  return {
    bytes: response?.body.length ?? 0,
    commands: commands.map(({ name, args }) => `${name} ${args.length}`).sort(),
  };
}

// That none of these commands takes longer the more jobs there are is held where they are made: read-stats.test.ts.
test("statistics of many jobs cost Redis the same commands as those of a hundred, and are as long", async () => {
  // The first ones load the scripts.
  await askWith(1);
  const few = await askWith(100);
  const many = await askWith(await countMany(emailQueue));
  expect(many.commands).toEqual(few.commands);
  // The digits of three counts of the queue and of the total.
  expect(many.bytes - few.bytes).toBeLessThan(50);
});
