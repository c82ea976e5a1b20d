import { getRedisConnection } from "@millrace/worker-config";
import { cancelChannel, defineQueue, parseJobFailure } from "@millrace/worker-config/contracts";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";

const contract = defineQueue("default", {
  run: { data: z.object({}), result: z.object({ echo: z.string() }), timeout: 10_000 },
});
const { prefix, raw, work, add, stored, ended, finished } = useQueue(contract);

test("an attempt past its time fails with timeout, its signal aborts, and what comes later lands nowhere", async () => {
  const late = Promise.withResolvers<{ echo: string }>();
  let reason: unknown;
  await work({
    run: async (_, { signal }) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      return late.promise;
    },
  });
  const job = await finished("run", {}, { timeoutMs: 50, attempts: 1 });
  late.resolve({ echo: "too late" });
  expect(parseJobFailure(job.failedReason)).toEqual({
    code: "timeout",
    message: "The attempt took longer than 50 ms.",
  });
  expect(reason).toBeInstanceOf(Error);
  expect((await stored(job.id ?? "")).returnvalue).toBeNull();
});

test("a message on the queue's channel aborts the running job, which ends as cancelled and is not tried again", async () => {
  const started = Promise.withResolvers<void>();
  await work({
    run: async () => {
      started.resolve();
      return new Promise(() => {});
    },
  });
  const jobId = await add("run", {}, { attempts: 3 });
  await started.promise;
  const publisher = new Redis({ ...getRedisConnection("events") });
  await publisher.publish(cancelChannel(prefix, "default"), jobId);
  publisher.disconnect();
  const job = await ended(jobId);
  const { code } = parseJobFailure(job.failedReason);
  expect([await job.getState(), job.attemptsMade, code]).toEqual(["failed", 1, "cancelled"]);
});

test.each<[shape: string, handler: (...given: [unknown, JobContext]) => Promise<{ echo: string }>]>([
  ["takes both of its arguments", async (_, { signal }) => untilAborted(signal)],
  ["gathers its arguments", async (...given) => untilAborted(given[1].signal)],
  ["has a default for an argument", async (_ = {}, context) => untilAborted(context.signal)],
  ["asks for its signal late", async (_, context) => Promise.resolve().then(() => untilAborted(context.signal))],
])("a handler that %s gets the signal that aborts at the deadline", async (_, handler) => {
  const aborted = Promise.withResolvers<void>();
  await work({
    run: async (data, context) => {
      const result = handler(data, context);
      result.catch(() => aborted.resolve());
      return result;
    },
  });
  await finished("run", {}, { timeoutMs: 50, attempts: 1 });
  await aborted.promise;
});

test("a line that Redis refuses fails nobody, waited for or not: what a job says is no part of what it does", async () => {
  let runs = 0;
  await work({
    run: async (_, { note, jobId }) => {
      runs += 1;
      await (await raw.getBackend().client).runCommand("set", [`${raw.toKey(jobId)}:logs`, "no list"]);
      await note("refused");
      void note("refused as well");
      return { echo: "done" };
    },
  });
  const job = await finished("run", {});
  expect([await job.getState(), job.returnvalue, runs]).toEqual(["completed", { echo: "done" }, 1]);
});

async function untilAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason));
  return promise;
}
