import { checkExposition, countSeries } from "@millrace/metrics/testing";
import { emailQueue, queues } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp({ queueLimits: { maxDepth: 2, maxDeadLetters: 0 } });

afterAll(async () => {
  await emailQueue.obliterate({ force: true });
});
const scrape = () => app().inject({ url: "/metrics", headers: bearer });
const enqueue = (options: object = {}) =>
  app().inject({ method: "POST", url: "/jobs/email/sendEmail", headers: bearer, payload: { data: mail, options } });

/** The value of a series of this scrape. */
async function readSeries(series: string): Promise<number> {
  const line = (await scrape()).body.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.split(" ")[1]);
}

test("a scrape says how every queue stands, and more jobs are no more series", async () => {
  await enqueue({ delayMs: 60_000 });
  // The first scrape is a request as well, and has a series from then on.
  await scrape();
  const before = await scrape();
  expect(before.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  await Promise.all([enqueue(), enqueue({ priority: 2 })]);
  await emailQueue.pause();
  await expect.poll(() => readSeries('queue_paused{queue="email"}'), { timeout: 5_000 }).toBe(1);
  const after = await scrape();
  expect(checkExposition(after.body)).toEqual([]);
  expect(countSeries(after.body)).toBe(countSeries(before.body));
  const lines = after.body.split("\n");
  expect(lines).toContain('queue_depth{queue="email",state="delayed"} 1');
  expect(lines).toContain('queue_depth{queue="email",state="waiting"} 2');
  expect(lines).toContain('dead_letters{queue="email"} 0');
  expect(lines).toContain('queue_paused{queue="webhook"} 0');
  await expect.poll(() => readSeries('queue_oldest_waiting_seconds{queue="email"}')).toBeGreaterThan(0);
  expect(await readSeries('queue_oldest_waiting_seconds{queue="webhook"}')).toBe(0);
  expect(after.body).not.toMatch(/MARKER|example\.com/);
});

test("a queue over its limits is degraded, and the API stays in service", async () => {
  await enqueue();
  await expect
    .poll(async () => (await app().inject({ url: "/readyz" })).json(), { timeout: 5_000 })
    .toMatchObject({
      status: "degraded",
      redis: "ok",
      queues: {
        email: { status: "degraded", depth: 3, deadLetters: 0 },
        webhook: { status: "healthy", depth: 0, deadLetters: 0 },
      },
    });
  expect((await app().inject({ url: "/readyz" })).statusCode).toBe(200);
});

test("a queue of which nobody knows how it stands is unknown, and the API degraded", async () => {
  const client = await emailQueue.getBackend().client;
  const key = queues.quota.toKey("failed");
  await client.set(key, "text");
  await expect
    .poll(async () => (await app().inject({ url: "/readyz" })).json(), { timeout: 5_000 })
    .toMatchObject({ status: "degraded", queues: { quota: { status: "unknown" }, webhook: { status: "healthy" } } });
  // The others are told all the same.
  expect((await scrape()).body).toMatch(/^dead_letters\{queue="webhook"\} 0$/m);
  expect((await scrape()).body).not.toMatch(/^dead_letters\{queue="quota"\}/m);
  await client.del(key);
});

test("a scrape says how long requests took, by their route's pattern and status", async () => {
  await Promise.all([enqueue(), enqueue(), app().inject({ url: "/jobs/email/MARKER", headers: bearer })]);
  await app().inject({ url: "/MARKER" });
  const count = (labels: string) => readSeries(`http_request_duration_seconds_count{${labels}}`);
  expect(await count('method="POST",route="/jobs/email/sendEmail",status="202"')).toBeGreaterThan(1);
  expect(await count('method="GET",route="/jobs/:queue/:jobId",status="404"')).toBe(1);
  expect(await count('method="unknown",route="unknown",status="404"')).toBe(1);
  // The scrape itself.
  expect(await readSeries("http_requests_in_flight")).toBe(1);
  expect((await scrape()).body).not.toContain("MARKER");
});

test("a scrape without a key is refused", async () => {
  expectProblem(await app().inject({ url: "/metrics" }), 401, "unauthorized");
});
