import { createRegistry } from "@millrace/metrics";
import { afterEach, expect, test } from "vitest";
import { type Health, type HealthServer, startHealthServer } from "./health-server.ts";

let server: HealthServer | undefined;
afterEach(() => server?.close());

async function ask(path: string, health: Partial<Health>) {
  server = await startHealthServer("127.0.0.1", 0, {
    isWedged: () => false,
    isDraining: () => false,
    checkParts: async () => ({ redis: true, worker: true, database: false }),
    metrics: createRegistry(),
    ...health,
  });
  const response = await fetch(`${server.url}${path}`);
  return { status: response.status, text: await response.text(), type: response.headers.get("content-type") };
}

async function readiness(health: Partial<Health>) {
  const { status, text } = await ask("/readyz", health);
  return { status, body: JSON.parse(text) };
}

test("a process is ready when every part is", async () => {
  expect(await readiness({ checkParts: async () => ({ redis: true, worker: true, files: true }) })).toEqual({
    status: 200,
    body: { status: "ok", redis: "ok", worker: "ok", files: "ok" },
  });
});

test("a part that is missing is named, beside those that are there", async () => {
  expect(await readiness({})).toEqual({
    status: 503,
    body: { status: "unavailable", redis: "ok", worker: "ok", database: "unavailable" },
  });
});

test("a process that was told to stop says so for as long as it finishes its jobs", async () => {
  expect(await readiness({ isDraining: () => true, checkParts: async () => ({ redis: true }) })).toEqual({
    status: 503,
    body: { status: "draining", redis: "ok" },
  });
});

test("a process that misses a part or drains lives on; one that is wedged does not", async () => {
  expect((await ask("/livez", { isDraining: () => true })).status).toBe(200);
  await server?.close();
  expect(await ask("/livez", { isWedged: () => true })).toMatchObject({ status: 503, text: '{"status":"wedged"}' });
});

test("metrics are served as Prometheus reads them, and a metric that throws ends nothing", async () => {
  const { status, type, text } = await ask("/metrics", {});
  expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  await server?.close();
  const metrics = {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    metrics: () => Promise.reject(new Error()),
  } as const;
  await expect(ask("/metrics", { metrics })).rejects.toThrow();
  expect((await fetch(`${server?.url}/livez`)).status).toBe(200);
});
