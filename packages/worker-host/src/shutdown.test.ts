import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";

const contract = defineQueue("default", {
  run: { data: z.object({}), result: z.object({ attempt: z.number() }), timeout: 10_000 },
});
const { raw, work, add, stored, ended } = useQueue(contract);

test("a stop lets the running job come to its end and takes no further one", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const worker = await work({
    run: async (_, { attempt }) => {
      started.resolve();
      await finish.promise;
      return { attempt };
    },
  });
  const jobId = await add("run", {});
  await started.promise;
  const stopping = worker.stop(10_000);
  const later = await add("run", {});
  finish.resolve();
  expect(await stopping).toBe(true);
  expect((await stored(jobId)).returnvalue).toEqual({ attempt: 1 });
  expect(await (await stored(later)).getState()).toBe("waiting");
  await raw.remove(later);
});

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
