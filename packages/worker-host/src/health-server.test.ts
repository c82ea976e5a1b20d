import { afterEach, expect, test } from "vitest";
import { type HealthServer, startHealthServer } from "./health-server.ts";
import { checkServices, type WorkerService } from "./worker-service.ts";

let health: HealthServer | undefined;
afterEach(() => health?.close());

const service = (check: WorkerService["check"]): WorkerService => ({ check, close: async () => {} });

async function readiness(services: Record<string, WorkerService>) {
  health = await startHealthServer("127.0.0.1", 0, async () => ({ worker: true, ...(await checkServices(services)) }));
  const response = await fetch(`${health.url}/readyz`);
  return { status: response.status, body: await response.json() };
}

test("a process is ready when its worker and every service are", async () => {
  expect(await readiness({ database: service(async () => 1) })).toEqual({
    status: 200,
    body: { status: "ok", worker: "ok", database: "ok" },
  });
});

test.each([
  ["rejects", () => Promise.reject(new Error("gone"))],
  [
    "throws",
    () => {
      throw new Error("gone");
    },
  ],
  ["never answers", () => new Promise(() => {})],
])("a service whose check %s is named, beside those that are there", async (_, check) => {
  expect(await readiness({ database: service(check), files: service(async () => {}) })).toEqual({
    status: 503,
    body: { status: "unavailable", worker: "ok", database: "unavailable", files: "ok" },
  });
});

test("a process whose service is gone lives on", async () => {
  await readiness({ database: service(() => Promise.reject(new Error("gone"))) });
  expect((await fetch(`${health?.url}/livez`)).status).toBe(200);
});
