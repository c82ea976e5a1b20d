import { closeQueues, contracts, emailQueue, enqueueUnchecked } from "@millrace/worker-config";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { bearer, createTestApp, expectProblem, mail } from "../test/test-app.ts";
import { claimRequest } from "./request-store.ts";

const otherKey = "another-key-for-the-tests";
// Two apps stand for two processes: they share nothing but Redis.
let apps: Awaited<ReturnType<typeof createTestApp>>[];

beforeAll(async () => {
  const apiKeys = [bearer.authorization.slice("Bearer ".length), otherKey];
  apps = await Promise.all([createTestApp({ apiKeys }), createTestApp({ apiKeys })]);
});
afterEach(() => emailQueue.obliterate({ force: true }));
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await closeQueues();
});

async function post(key: string, { data = mail, app = 0, as = bearer.authorization, options = {}, query = "" } = {}) {
  const headers = { authorization: as, "idempotency-key": key };
  const response = await apps[app]?.inject({
    method: "POST",
    url: `/jobs/email/sendEmail${query}`,
    headers,
    payload: { data, options },
  });
  if (!response) throw new Error(`expected an app ${app}`);
  return response;
}

test("the same request with the same key adds one job, whichever process it reaches, and gets the same answer", async () => {
  const first = await post("order-1");
  expect([first.statusCode, first.json().status]).toEqual([202, "created"]);
  // Quotes are the header's, not the key's.
  const second = await post('"order-1"', { app: 1 });
  expect([second.statusCode, second.json()]).toEqual([202, first.json()]);
  expect([first.headers["idempotency-replayed"], second.headers["idempotency-replayed"]]).toEqual([undefined, "true"]);
  expect(await emailQueue.count()).toBe(1);
});

test("the key outlives its job", async () => {
  const { jobId } = (await post("order-2")).json();
  await emailQueue.remove(jobId);
  expect((await post("order-2")).json()).toMatchObject({ jobId, status: "created" });
  expect(await emailQueue.count()).toBe(0);
});

test("the same key with another body is a problem", async () => {
  await post("order-3");
  expectProblem(await post("order-3", { data: { ...mail, subject: "Another" } }), 422, "idempotency_key_used");
  expect(await emailQueue.count()).toBe(1);
});

test("the same key of somebody else is another one", async () => {
  await post("order-4");
  expect((await post("order-4", { as: `Bearer ${otherKey}` })).json().status).toBe("created");
  expect(await emailQueue.count()).toBe(2);
});

test("of twins at once one adds the job, and the others get its answer or are told to come again", async () => {
  const twins = await Promise.all(Array.from({ length: 10 }, (_, index) => post("order-5", { app: index % 2 })));
  expect(await emailQueue.count()).toBe(1);
  for (const twin of twins) {
    if (twin.statusCode === 409) expectProblem(twin, 409, "idempotency_key_in_progress");
    else expect(twin.statusCode).toBe(202);
  }
  expect(twins.map(({ statusCode }) => statusCode)).toContain(202);
});

test("a request that was refused leaves its key free", async () => {
  expectProblem(await post("order-6", { data: { ...mail, to: "nobody" } }), 400, "invalid_data");
  expect((await post("order-6")).statusCode).toBe(202);
});

test("a repetition after an answer that was never kept finds the job by its id", async () => {
  const first = await post("order-7", { options: { delayMs: 60_000 } });
  const { jobId } = first.json();
  expect(jobId).toMatch(/^request-[\w-]{43}$/);
  // The process died between the job and its answer: another one adds the same job.
  const again = await enqueueUnchecked(contracts.email, "sendEmail", mail, { jobId });
  expect(again).toEqual({ status: "duplicate", jobId });
});

test("a job's own id and dedupe key stand above the request's", async () => {
  expect((await post("order-8", { options: { jobId: "mine" } })).json().jobId).toBe("mine");
});

test("a twin of a request that waits is told to come again only until its job is stored", async () => {
  const options = { delayMs: 60_000 };
  const waiting = post("order-9", { options, query: "?waitMs=300" });
  await expect.poll(async () => (await post("order-9", { options })).statusCode).toBe(202);
  expect((await waiting).json()).toMatchObject({ job: { status: "pending" } });
});

test.each(["", '"', "x".repeat(256), "ä", 'a"b'])("a key %j is a problem", async (key) => {
  expectProblem(await post(key), 400, "invalid_request");
});

test("a claim whose process died is free again after a minute", async () => {
  const request = { scope: ["test", "order-10"], fingerprint: "f", token: "1" };
  expect(await claimRequest(request)).toEqual({ state: "claimed" });
  expect(await claimRequest({ ...request, token: "2" })).toEqual({ state: "busy" });
  const client = await emailQueue.getBackend().client;
  const keys = (await client.runCommand("keys", [`${process.env.QUEUE_PREFIX}:_requests:*`])) as string[];
  const lifetimes = await Promise.all(keys.map(async (key) => Number(await client.runCommand("pttl", [key]))));
  expect(Math.min(...lifetimes)).toBeGreaterThan(50_000);
  expect(lifetimes.filter((lifetime) => lifetime <= 60_000)).toHaveLength(1);
});
