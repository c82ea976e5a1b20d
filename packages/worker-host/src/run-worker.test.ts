import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { checkExposition, countSeries } from "@millrace/metrics/testing";
import { afterEach, expect, test } from "vitest";
import { observedContract } from "../test/observed-contract.ts";
import { useQueue } from "../test/use-queue.ts";

const { raw, add } = useQueue(observedContract);
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** A worker process on a port that it chose, where its log says that it is. Its clock may be ahead of everybody's. */
async function startProcess(aheadMs = 0) {
  const shift = `const now = Date.now; Date.now = () => now() + ${aheadMs};`;
  const child = fork(new URL("../test/observed-process.ts", import.meta.url), {
    execArgv: ["--conditions=millrace-source", `--import=data:text/javascript,${encodeURIComponent(shift)}`],
    env: { ...process.env, LOG_LEVEL: "info", LOG_FORMAT: "json" },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  running.push(child);
  const started = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<void>();
  const codes: string[] = [];
  createInterface(child.stdout ?? process.stdin).on("line", (line) => {
    const { msg, health, code } = JSON.parse(line);
    if (code !== undefined) codes.push(code);
    if (msg === "worker started") started.resolve(health.replace("/readyz", ""));
    if (msg === "worker ready") ready.resolve();
  });
  const url = await started.promise;
  await ready.promise;
  const scrape = async () => (await fetch(`${url}/metrics`)).text();
  return { child, exited: once(child, "exit"), scrape, url, codes };
}

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.json() };
};

test("a process tells of its jobs in a constant number of series, whatever workspaces they bring", async () => {
  const { scrape, url } = await startProcess();
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
});

test("a process that was told to stop is not ready, and alive, until its last job is over", async () => {
  const { child, exited, scrape, url } = await startProcess();
  const holds = once(child, "message");
  await add("hold", {});
  await holds;
  child.kill("SIGTERM");
  await expect.poll(() => readiness(url)).toMatchObject({ status: 503, body: { status: "draining" } });
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect(await scrape()).toContain('worker_ready{queue="default"} 0');
  child.send("release");
  expect(await exited).toEqual([0, null]);
});

test("a process whose machine's clock is off says so and goes by Redis': a delayed job starts when it is due", async () => {
  const { child, scrape, codes } = await startProcess(-60_000);
  const holds = once(child, "message");
  const jobId = await add("hold", {}, { delayMs: 100 });
  const addedAt = performance.now();
  await holds;
  expect(performance.now() - addedAt).toBeLessThan(5_000);
  expect(Math.abs(((await raw.getJob(jobId))?.processedOn ?? 0) - Date.now())).toBeLessThan(10_000);
  expect(await scrape()).toMatch(/^redis_clock_skew_seconds\{queue="default"\} -(59|60)\./m);
  expect(codes.filter((code) => code === "clock_skew")).toHaveLength(1);
});
