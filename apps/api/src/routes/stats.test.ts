import { emailQueue } from "@millrace/worker-config";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer, useTestApp } from "../../test/test-app.ts";

const jobs = 100_000;
const waiting = emailQueue.toKey("wait");
const app = useTestApp();

beforeAll(async () => {
  const ids = Array.from({ length: jobs }, (_, index) => `many-${index}`);
  await (await emailQueue.getBackend().client).runCommand("rpush", [waiting, ...ids]);
});
afterAll(async () => {
  await (await emailQueue.getBackend().client).runCommand("del", [waiting]);
});
test("statistics of 100,000 jobs are answered at once, and are as long as those of none", async () => {
  const ask = () => app().inject({ url: "/jobs/stats", headers: bearer });
  await ask();
  const startedAt = performance.now();
  const response = await ask();
  const tookMs = performance.now() - startedAt;
  process.stdout.write(`GET /jobs/stats with ${jobs} jobs: ${tookMs.toFixed(1)} ms\n`);
  expect(response.json().total).toMatchObject({ pending: jobs, total: jobs });
  expect(response.body.length).toBeLessThan(20_000);
  // Alone it takes some milliseconds; other tests run beside it.
  expect(tookMs).toBeLessThan(1_500);
});
