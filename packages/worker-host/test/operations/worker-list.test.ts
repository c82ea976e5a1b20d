import { listWorkers } from "@millrace/job-admin";
import { createRedis, readRedisEnv } from "@millrace/redis";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { announceWorker } from "../../src/announce-worker.ts";
import { createOutcomeCount } from "../../src/count-outcomes.ts";
import { reportWorker } from "../../src/report-worker.ts";
import { silent, useQueue } from "../use-queue.ts";

const contract = defineQueue("default", { run: { data: z.object({}) } });
const { prefix, work, add } = useQueue(contract);

test("a worker is listed with what it runs for as long as it is there", async () => {
  const release = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const run = async () => {
    started.resolve();
    await release.promise;
  };
  const worker = await work({ run });
  const jobId = await add("run", {});
  await started.promise;
  const report = reportWorker(
    { queue: "default", concurrency: 5, version: "1.2.3", outcomes: createOutcomeCount(), jobs: worker.jobs },
    { connection: getRedisConnection("worker"), prefix, log: silent },
  );
  await expect
    .poll(async () => (await listWorkers()).workers)
    .toEqual([
      {
        ...{ queue: "default", version: "1.2.3", concurrency: 5, pid: process.pid, jobCount: 1 },
        ...{ id: expect.any(String), host: expect.any(String), startedAt: expect.any(String) },
        jobs: [{ jobId, action: "run", since: expect.stringMatching(/Z$/) }],
      },
    ]);
  expect((await listWorkers("email")).workers).toEqual([]);
  release.resolve();
  await report.close();
  expect((await listWorkers()).workers).toEqual([]);
});

test("a worker that was killed is gone when its record ends, and one that cannot be read hides no other", async () => {
  const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
  const record = { queue: "email", host: "h", pid: 1, version: "1", concurrency: 1, jobCount: 0 } as const;
  const startedAt = new Date().toISOString();
  await announceWorker(redis, prefix, { ...record, jobs: [], id: "stays", startedAt });
  await announceWorker(redis, prefix, { ...record, jobs: [], id: "damaged", startedAt: "never" });
  await announceWorker(redis, prefix, { ...record, jobs: [], id: "killed", startedAt }, 300);
  expect((await listWorkers()).workers).toHaveLength(2);
  await expect.poll(async () => (await listWorkers()).workers.map(({ id }) => id)).toEqual(["stays"]);
  redis.disconnect();
});
