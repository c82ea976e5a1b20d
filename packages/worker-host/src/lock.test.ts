import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { startNetwork } from "../test/network.ts";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";

const contract = defineQueue("default", {
  run: { data: z.object({}), result: z.object({ echo: z.string() }), timeout: 20_000 },
});
const { raw, work, add, stored, ended } = useQueue(contract);

/** Each renewal, after a quarter of the lock's life, sets its time back to the full second: six of them take longer than that life. */
function countRenewals(lock: string): () => Promise<number> {
  let renewals = 0;
  let leftMs = 0;
  return async () => {
    const client = await raw.getBackend().client;
    const now = Number(await client.runCommand("pttl", [lock]));
    if (now > leftMs) renewals += 1;
    leftMs = now;
    return renewals;
  };
}

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
    { lockDurationMs: 1_000, stalledIntervalMs: 1_000 },
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

test("a worker that fetches its own stalled job again ends the first attempt, and renews the lock of the second", async () => {
  const starts = [1, 2].map(() => ({
    context: Promise.withResolvers<JobContext>(),
    end: Promise.withResolvers<{ echo: string }>(),
  }));
  let runs = 0;
  await work(
    {
      run: async (_, context) => {
        const start = starts[runs++];
        start?.context.resolve(context);
        return start?.end.promise ?? { echo: "a third start" };
      },
    },
    { lockDurationMs: 1_000, stalledIntervalMs: 1_000 },
  );
  const [first, second] = starts;
  const jobId = await add("run", {});
  const { signal } = (await first?.context.promise) ?? {};
  const client = await raw.getBackend().client;
  const lock = `${raw.toKey(jobId)}:lock`;
  await client.runCommand("del", [lock]);
  await client.runCommand("lrem", [raw.toKey("active"), 1, jobId]);
  await client.runCommand("rpush", [raw.toKey("wait"), jobId]);
  await client.runCommand("zadd", [raw.toKey("marker"), 0, "0"]);
  await second?.context.promise;
  expect(signal?.reason).toMatchObject({ message: expect.stringMatching(/lock was lost/) });
  first?.end.resolve({ echo: "too late" });

  await expect.poll(countRenewals(lock), { interval: 20, timeout: 10_000 }).toBeGreaterThan(6);
  second?.end.resolve({ echo: "second" });
  expect((await ended(jobId)).returnvalue).toEqual({ echo: "second" });
  expect(runs).toBe(2);
});

test("a job that outlives its lock while its worker is closing completes once, because the lock is still renewed", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  let runs = 0;
  const run = async () => {
    runs += 1;
    started.resolve();
    await finish.promise;
    return { echo: "done" };
  };
  const times = { lockDurationMs: 1_000, stalledIntervalMs: 500 };
  const closing = await work({ run }, times);
  const jobId = await add("run", {});
  await started.promise;
  const stopped = closing.stop(20_000);
  // Looks for stalled jobs, and would take this one.
  await work({ run }, times);
  await expect.poll(countRenewals(`${raw.toKey(jobId)}:lock`), { interval: 20, timeout: 10_000 }).toBeGreaterThan(6);
  finish.resolve();
  expect(await stopped).toBe(true);
  const job = await ended(jobId);
  expect([job.returnvalue, job.attemptsMade, job.stalledCounter, runs]).toEqual([{ echo: "done" }, 1, 0, 1]);
});

test("a worker that is cut off from Redis ends its attempts when their locks are over, and the job runs elsewhere", async () => {
  const network = await startNetwork(getRedisConnection("worker"));
  const times = { lockDurationMs: 1_000, stalledIntervalMs: 500 };
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const cutOff = async (_: unknown, { signal }: JobContext) => {
    started.resolve();
    signal.addEventListener("abort", () => aborted.resolve(signal.reason));
    return new Promise<never>(() => {});
  };
  try {
    const connection = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
    await work({ run: cutOff }, { ...times, connection });
    const jobId = await add("run", {});
    await started.promise;
    network.cut();
    expect(await aborted.promise).toMatchObject({ message: expect.stringMatching(/lock was lost/) });
    await work({ run: async () => ({ echo: "elsewhere" }) }, times);
    const job = await ended(jobId);
    expect([job.returnvalue, job.attemptsMade]).toEqual([{ echo: "elsewhere" }, 1]);
  } finally {
    network.mend();
    network.close();
  }
});
