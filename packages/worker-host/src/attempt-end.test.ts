import { getRedisConnection } from "@millrace/worker-config";
import { cancelChannel, defineQueue, parseJobFailure } from "@millrace/worker-config/contracts";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";

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

test("a worker that lost a job's lock aborts it, and its result does not count", async () => {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const finish = Promise.withResolvers<{ echo: string }>();
  await work(
    {
      run: async (_, { signal }) => {
        started.resolve();
        signal.addEventListener("abort", () => aborted.resolve(signal.reason));
        return finish.promise;
      },
    },
    { lockDurationMs: 400, stalledIntervalMs: 60_000 },
  );
  const jobId = await add("run", {});
  await started.promise;
  const client = await raw.getBackend().client;
  await client.runCommand("set", [`${raw.toKey(jobId)}:lock`, "another-worker", "PX", 60_000]);
  expect(await aborted.promise).toMatchObject({ message: expect.stringMatching(/lock was lost/) });
  finish.resolve({ echo: "too late" });
  const job = await stored(jobId);
  expect([await job.getState(), job.returnvalue]).toEqual(["active", null]);
});
