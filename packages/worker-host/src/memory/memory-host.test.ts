import { createLogger } from "@millrace/logger";
import { defineQueue } from "@millrace/worker-config/contracts";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { silent } from "../../test/use-queue.ts";
import type { JobContext } from "../job-context.ts";
import type { HandlersOf } from "../job-handlers.ts";
import { hosted, type MemoryHost, type MemoryHostSettings, MemoryHostStoppedError, startMemoryHost } from "./index.ts";

const contract = defineQueue("default", { run: { data: z.object({ text: z.string() }) } });
const other = defineQueue("webhook", { deliver: { data: z.object({}) } });
type Run = HandlersOf<typeof contract>["run"];

const hosts: MemoryHost[] = [];
afterEach(() => Promise.all(hosts.splice(0).map((memory) => memory.stop(0))));

function host(run: Run, settings: MemoryHostSettings = {}): MemoryHost {
  const memory = startMemoryHost([hosted(contract, { run })], { log: silent, ...settings });
  hosts.push(memory);
  return memory;
}

function recorder() {
  const lines: { code?: string; level: number; jobs?: number; queue?: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, log: createLogger({ level: "warn", format: "json", destination }) };
}

const add = async (memory: MemoryHost, text: string, options: object = {}) =>
  (await memory.enqueue(contract, "run", { text }, options)).jobId;

/** Says that it runs, and goes on for ever. */
function stuck() {
  const started = Promise.withResolvers<void>();
  const run = async () => {
    started.resolve();
    return new Promise<never>(() => {});
  };
  return { started: started.promise, run };
}

test("drain waits in real time for retries and delayed jobs, and is done when nothing is left", async () => {
  const ran: string[] = [];
  const memory = host(async ({ text }, { attempt }) => {
    ran.push(`${text} ${attempt}`);
    if (text === "retried" && attempt === 1) throw new Error("no");
  });
  await add(memory, "retried", { retryIntervalsMs: [40] });
  await add(memory, "delayed", { delayMs: 20 });
  const before = performance.now();
  await memory.drain();
  expect(ran).toEqual(["retried 1", "delayed 1", "retried 2"]);
  expect(performance.now() - before).toBeGreaterThan(35);
  await memory.drain();
});

test("drain does not wait for a delayed job that is cancelled meanwhile", async () => {
  const memory = host(async () => {});
  const jobId = await add(memory, "a", { delayMs: 3_600_000 });
  const drained = memory.drain();
  expect(memory.cancelJob("default", jobId)).toBe("cancelled");
  await drained;
  expect(memory.findJob("default", jobId)?.status).toBe("cancelled");
});

test("a job that is cancelled in the moment between its failure and its retry is not tried again", async () => {
  let runs = 0;
  const answers: string[] = [];
  // The line is written when the attempt has failed, and before the job waits for the next one.
  const destination = { write: () => void answers.push(memory.cancelJob("default", "1")) };
  const log = createLogger({ level: "warn", format: "json", destination });
  const memory = host(
    async () => {
      runs += 1;
      throw new Error("no");
    },
    { log },
  );
  await add(memory, "a", { attempts: 3, retryIntervalsMs: [1] });
  await memory.drain();
  expect([answers, runs, memory.findJob("default", "1")?.status]).toEqual([["cancelling"], 1, "cancelled"]);
});

test("a stop returns every job that has not ended, and says as an error how many are lost", async () => {
  const { lines, log } = recorder();
  const { started, run } = stuck();
  const memory = host(run, { log, concurrency: 1 });
  const cut = await add(memory, "cut short");
  await started;
  const waiting = await add(memory, "waiting");
  const delayed = await add(memory, "delayed", { delayMs: 60_000 });
  const unhosted = (await memory.enqueue(other, "deliver", {})).jobId;
  const unfinished = await memory.stop(1);
  expect(unfinished.map(({ queue, jobId, status, attempts }) => [queue, jobId, status, attempts])).toEqual([
    ["default", cut, "pending", 0],
    ["default", waiting, "pending", 0],
    ["default", delayed, "pending", 0],
    ["webhook", unhosted, "pending", 0],
  ]);
  expect(lines).toMatchObject([
    { code: "not_hosted", queue: "webhook", level: 40 },
    { code: "jobs_lost", jobs: 4, level: 50 },
  ]);
});

test("a stop of a host whose jobs have ended loses nothing and says nothing, and a second stop is the first", async () => {
  const { lines, log } = recorder();
  const memory = host(async () => {}, { log });
  await add(memory, "a");
  await memory.drain();
  const stopping = memory.stop(1_000);
  expect(memory.stop(0)).toBe(stopping);
  expect([await stopping, lines]).toEqual([[], []]);
});

test("a job that comes while the host stops is among those that have not ended, and one after it is refused", async () => {
  const { promise: stopping, resolve: hear } = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const memory = host(async (_, { enqueue }) => {
    started.resolve();
    await stopping;
    await enqueue(contract, "run", { text: "child" });
  });
  await add(memory, "parent");
  await started.promise;
  const stopped = memory.stop(10_000);
  hear();
  expect(await stopped).toMatchObject([{ jobId: "2", status: "pending" }]);
  await expect(add(memory, "late")).rejects.toThrow(MemoryHostStoppedError);
});

test("jobs that never wait for anything leave timers their turn: a stop still ends an endless chain", async () => {
  let runs = 0;
  const chain: Run = async (data, { enqueue }: JobContext) => {
    runs += 1;
    await enqueue(contract, "run", data);
  };
  const memory = host(chain);
  await add(memory, "endless");
  await expect.poll(() => runs, { interval: 1 }).toBeGreaterThan(100);
  expect(await memory.stop(1_000)).toHaveLength(1);
});

test("dead letters are listed over all queues, the first that failed first, and cancelled jobs are none", async () => {
  const failing = async () => Promise.reject(new Error("no"));
  const memory = startMemoryHost([hosted(contract, { run: failing }), hosted(other, { deliver: failing })], {
    log: silent,
  });
  hosts.push(memory);
  await add(memory, "later", { attempts: 2, retryIntervalsMs: [1_000] });
  await memory.enqueue(other, "deliver", {}, { attempts: 1 });
  const cancelled = await add(memory, "cancelled", { delayMs: 2_000 });
  memory.cancelJob("default", cancelled);
  await memory.fastForward();
  expect(memory.deadLetters().map(({ queue, attempts }) => [queue, attempts])).toEqual([
    ["webhook", 1],
    ["default", 2],
  ]);
  expect(memory.deadLetters("webhook")).toMatchObject([{ error: { code: "handler_error", message: "no" } }]);
});

test("what has failed or was cancelled can be replayed, and nothing else", async () => {
  const ran: string[] = [];
  const memory = host(async ({ text }) => void ran.push(text));
  const cancelled = await add(memory, "cancelled", { delayMs: 1_000 });
  memory.cancelJob("default", cancelled);
  expect(memory.replayDeadLetter("default", cancelled)).toBe("replayed");
  await memory.drain();
  expect(memory.findJob("default", cancelled)).toMatchObject({ status: "success", attempts: 1 });
  expect(memory.replayDeadLetter("default", cancelled)).toBe("not_failed");
  expect([memory.replayDeadLetter("default", "nobody"), memory.replayDeadLetter("email", "x")]).toEqual([
    "unknown",
    "unknown",
  ]);
  expect([ran, memory.cancelJob("email", "x")]).toEqual([["cancelled"], "unknown"]);
});

test("a queue remembers its last 10,000 ended jobs and all of its dead letters", async () => {
  const memory = host(
    async ({ text }) => {
      if (text === "dead") throw new Error("no");
    },
    { concurrency: 1_000 },
  );
  await add(memory, "dead", { jobId: "dead", attempts: 1 });
  await add(memory, "first", { jobId: "first" });
  for (let job = 0; job < 10_000; job++) void add(memory, "more");
  await memory.drain();
  expect([memory.findJob("default", "dead")?.status, memory.findJob("default", "first")]).toEqual([
    "failed",
    undefined,
  ]);
  memory.assertEnqueued(contract, "run", { text: "more" }, { times: 10_000 });
  expect((await memory.enqueue(contract, "run", { text: "again" }, { jobId: "first" })).status).toBe("created");
  expect((await memory.enqueue(contract, "run", { text: "again" }, { jobId: "dead" })).status).toBe("duplicate");
});

test("a queue that is hosted twice is refused, and so is a concurrency that is no number of jobs", () => {
  const twice = hosted(contract, { run: async () => {} });
  expect(() => startMemoryHost([twice, twice], { log: silent })).toThrow("expected each queue once, got default twice");
  for (const concurrency of [0, 1.5, Number.NaN]) {
    expect(() => startMemoryHost([], { log: silent, concurrency })).toThrow(/expected concurrency to be a positive/);
  }
});
