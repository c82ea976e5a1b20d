import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contracts, defaultTimeoutMs, type QueueContract } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { workerHostEnvSchema } from "../packages/worker-host/src/env.ts";
import { listWorkers, root } from "./workers.ts";

interface Service {
  command?: string[];
  healthcheck?: { test: string[] };
  stop_grace_period?: string;
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
}

// Read as YAML and not by Docker: what Docker would refuse beyond these is not seen here.
const { services }: { services: Record<string, Service> } = parse(
  readFileSync(join(root, "docker-compose.yml"), "utf8"),
  {
    merge: true,
  },
);
const programs = ["api", ...listWorkers().map((domain) => `worker-${domain}`)];

test("there are the stores, the mail catcher, the API and one service per worker", () => {
  expect(Object.keys(services).sort()).toEqual(["mail", "postgres", "redis", ...programs].sort());
});

test.each(Object.entries(services))("%s has a health check", (_, service) => {
  expect(service.healthcheck?.test.length).toBeGreaterThan(1);
});

test.each(programs)("%s is stopped no sooner than its longest job ends that may not be interrupted", (name) => {
  const timeouts = Object.values<QueueContract>(contracts).flatMap(({ actions }) =>
    // An interruptible one begins anew elsewhere.
    Object.values(actions).map(({ timeout = defaultTimeoutMs, interruptible }) => (interruptible ? 0 : timeout)),
  );
  expect(Number.parseInt(services[name]?.stop_grace_period ?? "0", 10) * 1_000).toBeGreaterThan(Math.max(...timeouts));
});

test("every worker has the time it asks for its jobs, and ten seconds to hand back and to close", () => {
  for (const domain of listWorkers()) {
    const { environment = {}, stop_grace_period: period = "0" } = services[`worker-${domain}`] ?? {};
    const graceMs = workerHostEnvSchema.parse(environment).WORKER_SHUTDOWN_GRACE_MS;
    expect(Number.parseInt(period, 10) * 1_000).toBeGreaterThanOrEqual(graceMs + 10_000);
  }
});

test("the API has the time it asks for its requests, and ten seconds to close all else", () => {
  const [, graceMs] = /^# API_SHUTDOWN_GRACE_MS=(\d+)$/m.exec(readFileSync(join(root, ".env.example"), "utf8")) ?? [];
  expect(Number.parseInt(services.api?.stop_grace_period ?? "0", 10) * 1_000).toBeGreaterThan(Number(graceMs) + 10_000);
});

test("the API and every worker share one folder of files, which the image gives to the user it runs as", () => {
  for (const name of programs) expect(services[name]?.volumes).toEqual(["files:/var/lib/millrace/files"]);
  expect(readFileSync(join(root, "Dockerfile"), "utf8")).toContain("-o node -g node /var/lib/millrace/files");
});

test("Redis writes to disk, evicts nothing, and is on port 6380 of the host", () => {
  expect(services.redis?.command?.join(" ")).toContain("--appendonly yes --maxmemory-policy noeviction");
  expect(services.redis?.ports).toEqual(["127.0.0.1:6380:6379"]);
});

test("the image starts node itself, which hears SIGTERM", () => {
  expect(readFileSync(join(root, "Dockerfile"), "utf8")).toMatch(
    /^ENTRYPOINT \["node",.* "\/app\/tools\/end-on-signal\.mjs"\]$/m,
  );
});
