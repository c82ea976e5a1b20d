import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mail, mailJob } from "../../test/queues.ts";
import { askQueue, closeQueues, emailContract, emailQueue, enqueue, fakeQueue } from "../index.ts";

const sentence = "A job was enqueued during `next build`, where no queue exists. Enqueue at run time.";
let opened = 0;
const count = () => {
  opened += 1;
};

beforeEach(() => {
  process.env.NEXT_PHASE = "phase-production-build";
  opened = 0;
  subscribe("net.client.socket", count);
});
afterEach(async () => {
  unsubscribe("net.client.socket", count);
  delete process.env.NEXT_PHASE;
  await closeQueues();
  expect(opened).toBe(0);
});

test("during a build every way to add a job is refused with a sentence, and nothing is opened", async () => {
  await expect(enqueue(emailContract, "sendEmail", mail)).rejects.toThrow(sentence);
  await expect(emailQueue.add("sendEmail", mailJob)).rejects.toThrow(sentence);
  await expect(emailQueue.addBulk([{ name: "sendEmail", data: mailJob }])).rejects.toThrow(sentence);
  await expect(emailQueue.upsertJobScheduler("sendEmail", { every: 60_000 })).rejects.toThrow(sentence);
});

test("during a build reads answer nothing, and listening and closing work", async () => {
  expect(await emailQueue.getJob("a")).toBeUndefined();
  expect(await askQueue(emailContract, (queue) => queue.count())).toBeUndefined();
  expect(emailQueue.on("error", () => {})).toBe(fakeQueue);
  await emailQueue.close();
  await closeQueues();
});

test("the stand-in can be awaited without becoming a promise", async () => {
  expect(await fakeQueue).toBe(fakeQueue);
});
