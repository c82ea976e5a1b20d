import { closeQueues } from "@millrace/worker-config";
import type { LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type OwnRedis, reserveRedis } from "../test/own-redis.ts";
import { basic, bearer, createTestApp, expectProblem, mail } from "../test/test-app.ts";

let redis: OwnRedis;
let app: Awaited<ReturnType<typeof createTestApp>>;

beforeAll(async () => {
  redis = await reserveRedis();
  vi.stubEnv("REDIS_URL", redis.url);
  app = await createTestApp();
});

afterAll(async () => {
  await app.close();
  await closeQueues();
  await redis.kill();
  vi.unstubAllEnvs();
});

function post(options: object = {}) {
  const url = "/jobs/email/sendEmail";
  return app.inject({ method: "POST", url, headers: bearer, payload: { data: mail, options } });
}

function read() {
  return app.inject({ url: "/jobs/email/some-job", headers: bearer });
}

async function expectUnavailable(ask: () => Promise<LightMyRequestResponse>): Promise<string> {
  const startedAt = performance.now();
  const response = await ask();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expectProblem(response, 503, "queue_unavailable");
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
  return response.json().detail;
}

async function expectOutage(): Promise<void> {
  expect((await app.inject({ url: "/livez" })).statusCode).toBe(200);
  // An answer of a second ago may be given once more.
  await vi.waitFor(async () => {
    const ready = await app.inject({ url: "/readyz" });
    expect([ready.statusCode, ready.json()]).toEqual([
      503,
      { status: "unavailable", redis: "unavailable", database: "ok", files: "ok" },
    ]);
  }, 5_000);
  await expectUnavailable(post);
  await expectUnavailable(read);
}

async function expectRecovery(): Promise<void> {
  await vi.waitFor(async () => expect((await app.inject({ url: "/readyz" })).statusCode).toBe(200), {
    timeout: 15_000,
  });
  expect((await post()).statusCode).toBe(202);
  expectProblem(await read(), 404, "unknown_job");
}

// One outage after the other, as they come to one process: each test brings Redis back for itself.
describe("without Redis", () => {
  test("from the start, requests are answered within two seconds, and served when Redis comes", async () => {
    await redis.kill();
    await expectOutage();
    await redis.start();
    await expectRecovery();
  });

  test("what needs none is answered: a refusal, the documentation, the dashboard's page", async () => {
    await redis.kill();
    const url = "/jobs/email/sendEmail";
    const refused = await app.inject({ method: "POST", url, headers: bearer, payload: { data: {} } });
    expectProblem(refused, 400, "invalid_data");
    expect((await app.inject({ url: "/jobs/email/x" })).statusCode).toBe(401);
    for (const page of ["/openapi.json", "/docs/", "/dashboard"]) {
      expect((await app.inject({ url: page, headers: basic })).statusCode).toBe(200);
    }
  });

  test("the dashboard's questions do not hang", async () => {
    await redis.kill();
    const responses = await Promise.all(
      ["/dashboard/api/queues", "/dashboard/api/queues/email/x"].map((url) => app.inject({ url, headers: basic })),
    );
    for (const { statusCode } of responses) expect(statusCode).toBeGreaterThanOrEqual(500);
  });

  test("that was killed after it served, requests are answered as soon, and served when it is back", async () => {
    await redis.kill();
    await redis.start();
    await expectRecovery();
    await redis.kill();
    await expectOutage();
    expect(await expectUnavailable(post)).toContain("No job was added");
    await redis.start();
    await expectRecovery();
  });

  test("that freezes, an enqueue says that its job may exist, and asking again with its id adds no second one", async () => {
    await redis.kill();
    await redis.start();
    await expectRecovery();
    redis.freeze();
    const options = { jobId: "frozen" };
    expect(await expectUnavailable(() => post(options))).toContain("may have been added");
    await expectUnavailable(read);
    redis.unfreeze();
    await expectRecovery();
    expect((await post(options)).json()).toMatchObject({ jobId: "frozen", status: "duplicate" });
  });

  test("nothing of the payload gets into the log", () => {
    expect(app.logged.join("")).toContain("queue_unavailable");
    expect(app.logged.join("")).not.toContain("MARKER");
  });
});
