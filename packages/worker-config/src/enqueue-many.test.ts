import { expect, test, vi } from "vitest";
import { mail, useFreshQueues } from "../test/queues.ts";
import { emailContract, emailQueue, enqueueMany, enqueueManyUnchecked, InvalidJobError } from "./index.ts";

useFreshQueues();

test("many are added in their order, and each is answered at its place", async () => {
  const items = Array.from({ length: 250 }, (_, index) => ({ data: { ...mail, subject: `No. ${index}` } }));
  const results = await enqueueMany(emailContract, "sendEmail", items);
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["created"]));
  const [oldest, newest] = [await emailQueue.getWaiting(0, 0), await emailQueue.getWaiting(249, 249)];
  expect([...oldest, ...newest].map((job) => job.data.data)).toMatchObject([
    { subject: "No. 0" },
    { subject: "No. 249" },
  ]);
});

test("one that is refused or there already stops no other", async () => {
  const results = await enqueueManyUnchecked(emailContract, "sendEmail", [
    { data: mail, options: { jobId: "a" } },
    { data: { ...mail, to: "MARKER" } },
    { data: mail, options: { jobId: "a" } },
    { data: mail, options: { attempts: 0 } },
    { data: mail },
  ]);
  expect(results.map(({ status }) => status)).toEqual(["created", "refused", "duplicate", "refused", "created"]);
  const refused = results[1];
  expect(refused).toMatchObject({ error: expect.any(InvalidJobError) });
  expect(JSON.stringify(refused)).not.toContain("MARKER");
  expect(await emailQueue.count()).toBe(2);
});

test("without Redis nothing is added, and the answer comes after one deadline however many there are", async () => {
  vi.stubEnv("REDIS_URL", "redis://127.0.0.1:1");
  const startedAt = performance.now();
  const results = await enqueueManyUnchecked(
    emailContract,
    "sendEmail",
    Array.from({ length: 500 }, () => ({ data: mail })),
  );
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(results).toHaveLength(500);
  for (const result of results) expect(result).toMatchObject({ status: "unavailable", mayHaveHappened: false });
  vi.unstubAllEnvs();
});
