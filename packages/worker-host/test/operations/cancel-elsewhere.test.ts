import { cancelJob } from "@millrace/job-admin";
import { parseJobFailure } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { crashContract } from "../crash-contract.ts";
import { useQueue } from "../use-queue.ts";
import { useWorkerProcesses } from "../worker-processes.ts";

const { events, add, ended } = useQueue(crashContract);
const startProcess = useWorkerProcesses();

test("a job that runs in another process is called off within a second", async () => {
  await events.waitUntilReady();
  const child = startProcess();
  const jobId = await add("hold", {});
  await child.untilSaid(jobId);
  const askedAt = performance.now();
  expect((await cancelJob("default", jobId)).outcome).toBe("cancelling");
  const job = await ended(jobId);
  expect(performance.now() - askedAt).toBeLessThan(1_000);
  expect([parseJobFailure(job.failedReason).code, job.attemptsMade]).toEqual(["cancelled", 1]);
});
