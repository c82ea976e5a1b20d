import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { readDevServicesEnv, startRedis } from "@millrace/dev-services";
import { checkExposition, countSeries } from "@millrace/metrics/testing";
import { createRedis, ownKey, readRedisEnv } from "@millrace/redis";
import { parseJobSkip, type WorkerRecord, workerRecordSchema } from "@millrace/worker-config/contracts";
import { createWorkspaceDirectory } from "@millrace/workspaces";
import { Redis } from "ioredis";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { observedContract } from "../test/observed-contract.ts";
import { useQueue } from "../test/use-queue.ts";
import { runWorker } from "./run-worker.ts";

const { prefix, raw, add, ended } = useQueue(observedContract);
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** A worker process under some variables. Its clock may be ahead of everybody's. */
function launch(variables: NodeJS.ProcessEnv, aheadMs = 0): ChildProcess {
  const shift = `const now = Date.now; Date.now = () => now() + ${aheadMs};`;
  const child = fork(new URL("../test/observed-process.ts", import.meta.url), {
    execArgv: ["--conditions=millrace-source", `--import=data:text/javascript,${encodeURIComponent(shift)}`],
    env: { ...process.env, LOG_LEVEL: "info", LOG_FORMAT: "json", ...variables },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  running.push(child);
  return child;
}

/** One that takes jobs, on a port that it chose, where its log says that it is. */
async function startProcess(variables: NodeJS.ProcessEnv = {}, aheadMs = 0) {
  const child = launch(variables, aheadMs);
  child.stderr?.pipe(process.stderr);
  const started = Promise.withResolvers<{ url: string; redis: string }>();
  const ready = Promise.withResolvers<void>();
  const codes: string[] = [];
  createInterface(child.stdout ?? process.stdin).on("line", (line) => {
    const { msg, health, code, redis } = JSON.parse(line);
    if (code !== undefined) codes.push(code);
    if (msg === "worker started") started.resolve({ url: health.replace("/readyz", ""), redis });
    if (msg === "worker ready") ready.resolve();
  });
  const { url, redis } = await started.promise;
  await ready.promise;
  const scrape = async () => (await fetch(`${url}/metrics`)).text();
  return { child, exited: once(child, "exit"), scrape, url, redis, codes };
}

/** What a process has told of itself. */
async function recordOf({ pid }: ChildProcess): Promise<WorkerRecord | undefined> {
  const client = await raw.getBackend().client;
  const ids = await client.runCommand("zrange", [ownKey(prefix, "workers"), 0, -1]);
  const records = await Promise.all(
    [ids].flat().map((id) => client.runCommand("get", [ownKey(prefix, "workers", String(id))])),
  );
  // That of a process that was killed ends before its id does.
  const told = records.filter((record) => record !== null);
  return told.map((record) => workerRecordSchema.parse(JSON.parse(String(record)))).find((each) => each.pid === pid);
}

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.json() };
};

test("a process tells of its jobs in a constant number of series, whatever workspaces they bring", async () => {
  const { scrape, url } = await startProcess();
  const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
  const directory = createWorkspaceDirectory({ redis, prefix });
  await directory.assignWorkspace("of-mallory", "mallory");
  await directory.blockOwner("mallory");
  redis.disconnect();
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect(await readiness(url)).toEqual({
    status: 200,
    body: { status: "ok", redis: "ok", worker: "ok", locks: "ok" },
  });
  const fill = async (from: number, to: number) => {
    const jobs = Array.from({ length: to - from }, (_, index) => from + index);
    await raw.addBulk(
      jobs.map((job) =>
        job % 2 === 0
          ? {
              name: "run",
              data: {
                type: "run",
                data: { workspaceId: `workspace-${job % 100}`, ...(job < 10 && { key: `key-${job}` }) },
              },
            }
          : { name: "fail", data: { type: "fail", data: { code: "refused" } } },
      ),
    );
    await expect
      .poll(() => raw.getJobCounts("completed", "failed"), { timeout: 20_000 })
      .toEqual({ completed: to / 2, failed: to / 2 });
  };
  await fill(0, 20);
  const before = await scrape();
  await fill(20, 40);
  const after = await scrape();
  expect(checkExposition(after)).toEqual([]);
  expect(after).not.toMatch(/workspace-/);
  expect(countSeries(after)).toBe(countSeries(before));
  const run = 'queue="default",action="run"';
  for (const line of [
    `jobs_processed_total{${run},outcome="completed",code="none"} 20`,
    `job_duration_seconds_count{${run}} 20`,
    `job_wait_seconds_count{${run}} 20`,
    'jobs_processed_total{queue="default",action="fail",outcome="failed",code="refused"} 20',
    'lock_wait_seconds_count{kind="lock",outcome="acquired"} 5',
    'jobs_stalled_total{queue="default"} 0',
    'worker_ready{queue="default"} 1',
  ]) {
    expect(after.split("\n")).toContain(line);
  }
  // Its application has told of the block before the first of these jobs, and a worker knows of it within two seconds.
  await expect
    .poll(async () => parseJobSkip((await ended(await add("run", { workspaceId: "of-mallory" }))).returnvalue)?.code)
    .toBe("owner_blocked");
  await raw.drain();
});

test("a process that was told to stop is not ready, and alive, until its last job is over, and takes no more than it may", async () => {
  let traces = "";
  const collector = createServer(async (request, response) => {
    traces += await text(request);
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  // A server that listens on host and port has an address of this form.
  const { port } = collector.address() as AddressInfo;
  const { child, exited, scrape, url } = await startProcess({
    DEFAULT_WORKER_CONCURRENCY: "2",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "10",
  });
  await add("run", { workspaceId: "w" });
  await expect.poll(() => traces).toContain("process default");
  const jobIds = [];
  for (let job = 0; job < 3; job++) jobIds.push(await add("hold", {}, { attempts: 1 }));
  await expect.poll(() => raw.getActiveCount()).toBe(2);
  await expect.poll(() => recordOf(child)).toMatchObject({ concurrency: 2 });
  child.kill("SIGTERM");
  await expect.poll(() => readiness(url)).toMatchObject({ status: 503, body: { status: "draining" } });
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect(await scrape()).toContain('worker_ready{queue="default"} 0');
  child.send("release");
  expect(await exited).toEqual([0, null]);
  expect(await Promise.all(jobIds.map((jobId) => raw.getJobState(jobId)))).toEqual([
    ...["completed", "completed"],
    "waiting",
  ]);
  await raw.drain();
  expect(await recordOf(child)).toBeUndefined();
  collector.close();
});

test("a process says which Redis it uses, and one whose machine's clock is off goes by Redis': a delayed job starts when it is due", async () => {
  const { child, scrape, codes, redis } = await startProcess({}, -60_000);
  const { hostname, port, pathname } = new URL(readRedisEnv().REDIS_URL);
  expect(redis).toBe(`${hostname}:${port}/${pathname.slice(1) || 0}`);
  const holds = once(child, "message");
  const jobId = await add("hold", {}, { delayMs: 100 });
  const addedAt = performance.now();
  await holds;
  expect(performance.now() - addedAt).toBeLessThan(5_000);
  expect(Math.abs(((await raw.getJob(jobId))?.processedOn ?? 0) - Date.now())).toBeLessThan(10_000);
  expect(await scrape()).toMatch(/^redis_clock_skew_seconds\{queue="default"\} -(59|60)\./m);
  expect(codes.filter((code) => code === "clock_skew")).toHaveLength(1);
});

test("a worker whose grace, or whose concurrency, is out of bounds does not start, and says so in a sentence", async () => {
  const handlers = { run: async () => {}, fail: async () => {}, hold: async () => {} };
  // Each fault stands before the next one, and the last one is there so that none of these starts can succeed.
  vi.stubEnv("REDIS_URL", "");
  vi.stubEnv("DEFAULT_WORKER_CONCURRENCY", "201");
  vi.stubEnv("WORKER_SHUTDOWN_GRACE_MS", "1000");
  await expect(runWorker(observedContract, handlers)).rejects.toThrow(
    "run may run for 30000 ms, but a shutdown gives it 1000 ms",
  );
  vi.stubEnv("WORKER_SHUTDOWN_GRACE_MS", undefined);
  await expect(runWorker(observedContract, handlers)).rejects.toThrow("DEFAULT_WORKER_CONCURRENCY");
  vi.stubEnv("DEFAULT_WORKER_CONCURRENCY", "200");
  await expect(runWorker(observedContract, handlers)).rejects.toThrow("REDIS_URL");
  vi.unstubAllEnvs();
});

test("a process whose health port is taken ends with the sentence alone", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  // A server that listens on host and port has an address of this form.
  const { port } = taken.address() as AddressInfo;
  const child = launch({ WORKER_HEALTH_HOST: "127.0.0.1", WORKER_HEALTH_PORT: String(port), LOG_LEVEL: "silent" });
  const said = Promise.all([child.stdout, child.stderr].map((stream) => stream && text(stream)));
  expect((await once(child, "exit"))[0]).toBe(1);
  expect(await said).toEqual([
    "",
    `Cannot listen on port ${port} of 127.0.0.1: somebody listens there already. End it, or set WORKER_HEALTH_PORT (or WORKER_HEALTH_HOST) to another one.\n`,
  ]);
});

test("in production a process takes no job of a Redis that may evict them, and warns of one that does not say", async () => {
  const redis = await startRedis({ choice: readDevServicesEnv().DEV_REDIS });
  const production = { NODE_ENV: "production", REDIS_URL: redis.url };
  if (redis.kind === "embedded") {
    expect((await startProcess(production)).codes).toContain("redis_unknown");
  } else {
    const client = new Redis(redis.url);
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    client.disconnect();
    const child = launch(production);
    const said = Promise.all([child.stdout, child.stderr].map((stream) => stream && text(stream)));
    expect((await once(child, "exit"))[0]).toBe(1);
    expect((await said).join("")).toContain("expected maxmemory-policy noeviction, got allkeys-lru");
  }
  for (const child of running) child.kill("SIGKILL");
  await redis.stop();
});
