import { closeQueues, QueueUnavailableError } from "@millrace/worker-config";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findJob } from "./find-job.ts";

// Where nobody listens.
beforeAll(() => vi.stubEnv("REDIS_URL", "redis://127.0.0.1:1"));

afterAll(async () => {
  await closeQueues();
  vi.unstubAllEnvs();
});

test("without Redis a question ends within two seconds and says so, the first as the next", async () => {
  for (const jobId of ["one", "two"]) {
    const startedAt = performance.now();
    await expect(findJob("email", jobId)).rejects.toThrow(QueueUnavailableError);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  }
});
