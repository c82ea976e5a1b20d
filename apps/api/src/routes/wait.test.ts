import { createApiKey } from "@millrace/access";
import { closeQueues, emailQueue, getRedisConnection } from "@millrace/worker-config";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type OwnRedis, reserveRedis } from "../../test/own-redis.ts";
import { bearer, createTestApp, expectProblem, mail } from "../../test/test-app.ts";

let redis: OwnRedis;
let app: Awaited<ReturnType<typeof createTestApp>>;
let worker: Worker;

// A Redis that nobody else connects to.
beforeAll(async () => {
  redis = await reserveRedis();
  await redis.start();
  vi.stubEnv("REDIS_URL", redis.url);
  app = await createTestApp();
  worker = new Worker("email", async () => ({ messageId: "m-1" }), {
    connection: getRedisConnection("worker"),
    prefix: process.env.QUEUE_PREFIX ?? "",
    concurrency: 50,
  });
});
afterAll(async () => {
  await app.close();
  await worker.close();
  await closeQueues();
  await redis.kill();
  vi.unstubAllEnvs();
});

function post(query: string, options: object = {}) {
  const url = `/jobs/email/sendEmail${query}`;
  return app.inject({ method: "POST", url, headers: bearer, payload: { data: mail, options } });
}
const read = (jobId: string, query: string) => app.inject({ url: `/jobs/email/${jobId}${query}`, headers: bearer });

test("an enqueue that waits answers with the result", async () => {
  const response = await post("?waitMs=20000");
  expect(response.statusCode).toBe(200);
  expect(response.json()).toMatchObject({
    status: "created",
    job: { jobId: response.json().jobId, status: "success", result: { messageId: "m-1" } },
  });
});

test("a wait that is over before its job answers with the job as it stands", async () => {
  const response = await post("?waitMs=30", { delayMs: 60_000 });
  expect(response.statusCode).toBe(202);
  expect(response.json()).toMatchObject({ status: "created", job: { status: "pending", result: null } });
  const again = await read(response.json().jobId, "?waitMs=30");
  expect([again.statusCode, again.json().status]).toEqual([202, "pending"]);
});

test("a reader that waits hears of the end when it comes", async () => {
  const { jobId } = (await post("", { delayMs: 60_000 })).json();
  const reading = read(jobId, "?waitMs=20000");
  await (await emailQueue.getJob(jobId))?.promote();
  const response = await reading;
  expect([response.statusCode, response.json().status]).toEqual([200, "success"]);
  expectProblem(await read("nobody", "?waitMs=1000"), 404, "unknown_job");
});

test("who waits beyond what a process holds is told so at once, before anything is added", async () => {
  const full = await createTestApp({ waitLimits: { total: 2 } });
  const { jobId } = (await post("", { delayMs: 3_600_000 })).json();
  const ask = () => full.inject({ url: `/jobs/email/${jobId}?waitMs=20000`, headers: bearer });
  // All at once: none of them may be let in by a count that comes too late.
  const asked = [ask(), ask(), ask(), ask()];
  const refused = await Promise.race(asked);
  expectProblem(refused, 503, "too_many_waits");
  expect(refused.headers["retry-after"]).toBe("5");
  const before = await emailQueue.getJobCountByTypes("delayed");
  const payload = { data: mail, options: { delayMs: 3_600_000 } };
  const url = "/jobs/email/sendEmail?waitMs=20000";
  expectProblem(await full.inject({ method: "POST", url, headers: bearer, payload }), 503, "too_many_waits");
  expectProblem(await full.inject({ url: `/jobs/email/${jobId}/events`, headers: bearer }), 503, "too_many_waits");
  expect(await emailQueue.getJobCountByTypes("delayed")).toBe(before);
  await (await emailQueue.getJob(jobId))?.promote();
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
  expect(statuses.toSorted()).toEqual([200, 200, 503, 503]);
  expect((await full.inject({ url: `/jobs/email/${jobId}?waitMs=100`, headers: bearer })).statusCode).toBe(200);
  await full.close();
});

test("one key, and one workspace with all its keys, holds its share of the places and leaves the others", async () => {
  const shared = await createTestApp({ waitLimits: { total: 5, perKey: 2, perWorkspace: 1 } });
  const holder = async (role: "viewer" | "producer", workspaceId?: string) => {
    const { key } = await createApiKey({ name: "Shop", role, ...(workspaceId !== undefined && { workspaceId }) });
    return { authorization: `Bearer ${key}` };
  };
  const [ada, bob, eve] = [await holder("viewer", "ws-1"), await holder("producer", "ws-1"), await holder("viewer")];
  const payload = { data: { ...mail, workspaceId: "ws-1" }, options: { delayMs: 3_600_000 } };
  const add = (query: string, headers: object) =>
    shared.inject({ method: "POST", url: `/jobs/email/sendEmail${query}`, headers: { ...headers }, payload });
  const { jobId } = (await add("", bob)).json();
  const ask = (headers: object) => shared.inject({ url: `/jobs/email/${jobId}?waitMs=20000`, headers: { ...headers } });
  // All at once, as above.
  const [ofWorkspace, ofKey] = [
    [ask(ada), ask(bob)],
    [ask(eve), ask(eve), ask(eve)],
  ];
  const refused = await Promise.race(ofWorkspace);
  expectProblem(refused, 429, "too_many_own_waits");
  expect(refused.headers["retry-after"]).toBe("5");
  expect(refused.json().detail).toMatch(/^In this process 1 requests of this workspace's keys .+ without waiting\.$/);
  expectProblem(await Promise.race(ofKey), 429, "too_many_own_waits");
  expectProblem(await add("?waitMs=20000", bob), 429, "too_many_own_waits");
  expectProblem(await shared.inject({ url: `/jobs/email/${jobId}/events`, headers: bob }), 429, "too_many_own_waits");
  const another = ask(bearer);
  await (await emailQueue.getJob(jobId))?.promote();
  const statuses = (await Promise.all([...ofWorkspace, ...ofKey, another])).map(({ statusCode }) => statusCode);
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429, 429]);
  // And each place is free again.
  expect((await ask(bob)).statusCode).toBe(200);
  await shared.close();
});

test.each(["-1", "30001", "MARKER", "1.5"])("a wait of %s is a problem", async (waitMs) => {
  expectProblem(await post(`?waitMs=${waitMs}`), 400, "invalid_request");
  expectProblem(await read("any", `?waitMs=${waitMs}`), 400, "invalid_request");
});

test("a thousand enqueues, while others wait, take no connection to Redis but the one that waits", async () => {
  const observer = new Redis(redis.url);
  const count = async () => Number(/connected_clients:(\d+)/.exec(await observer.info("clients"))?.[1]);
  await post("");
  const before = await count();
  const { jobId } = (await post("", { delayMs: 3_600_000 })).json();
  const waiting = Array.from({ length: 20 }, () => read(jobId, "?waitMs=30000"));
  // Each round would show a connection of a request's own, or one that is left over.
  for (let round = 0; round < 50; round += 1) {
    const added = await Promise.all(Array.from({ length: 20 }, () => post("", { delayMs: 3_600_000 })));
    expect(new Set(added.map(({ statusCode }) => statusCode))).toEqual(new Set([202]));
    expect(await count()).toBeLessThanOrEqual(before + 1);
  }
  await (await emailQueue.getJob(jobId))?.promote();
  const answers = await Promise.all(waiting);
  expect(answers.map((answer) => answer.json().status)).toEqual(Array.from({ length: 20 }, () => "success"));
  await observer.quit();
});
