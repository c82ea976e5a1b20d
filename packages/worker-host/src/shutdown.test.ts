import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";

const contract = defineQueue("default", {
  run: { data: z.object({}), result: z.object({ attempt: z.number() }), timeout: 10_000 },
});
const { work, add, stored, ended } = useQueue(contract);

/** Says when it was started and when it was aborted, and ignores both its signal and the time. */
function stubborn() {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const run = async (_: unknown, { signal }: JobContext) => {
    started.resolve();
    signal.addEventListener("abort", () => aborted.resolve(signal.reason));
    return new Promise<never>(() => {});
  };
  return { started: started.promise, aborted: aborted.promise, run };
}

test("a stop whose time is over aborts the signal and hands the job back, at the head and without using up an attempt", async () => {
  const { started, aborted, run } = stubborn();
  const worker = await work({ run });
  const jobId = await add("run", {}, { attempts: 1 });
  await started;
  expect(await worker.stop(1)).toBe(false);
  expect(await aborted).toMatchObject({ message: "The worker shuts down." });
  const job = await stored(jobId);
  expect([await job.getState(), job.attemptsMade, job.stalledCounter]).toEqual(["waiting", 0, 0]);
  await work({ run: async (_, { attempt }) => ({ attempt }) });
  expect((await ended(jobId)).returnvalue).toEqual({ attempt: 1 });
});

test("a healthy job survives five deploys that each cut it short, and then has its first attempt", async () => {
  const jobId = await add("run", {}, { attempts: 1 });
  for (let deploy = 1; deploy <= 5; deploy++) {
    const { started, run } = stubborn();
    const worker = await work({ run });
    await started;
    await worker.stop(1);
  }
  await work({ run: async (_, { attempt }) => ({ attempt }) });
  const job = await ended(jobId);
  expect([job.returnvalue, job.attemptsMade, job.stalledCounter]).toEqual([{ attempt: 1 }, 1, 0]);
});
