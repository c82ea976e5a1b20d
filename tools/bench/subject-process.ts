import { createLogger } from "@millrace/logger";
import { createJobMetrics, createRegistry } from "@millrace/metrics";
import { redisConnectionOptions } from "@millrace/redis";
import { defaultWorkerOptions } from "@millrace/worker-config";
import { type JobContext, startWorker } from "@millrace/worker-host";
import { Queue, Worker } from "bullmq";
import { benchContract, benchData } from "./contract.ts";
import { type Measurement, type SubjectName, subjects } from "./measurement.ts";

// One subject, in a process of its own so that none profits from another's warm code. It is asked for a turn, measures it and is idle again.
const [redisUrl = "", subjectName = "raw", jobsPerTurn = "0"] = process.argv.slice(2);
// The caller passes a key of `subjects`.
const subject = subjects[subjectName as SubjectName];
const jobs = Number(jobsPerTurn);
// The first 10,000 jobs of a process cost BullMQ up to a fifth more than later ones, and the host, which has more code to compile, half as
// much again. After 20,000 neither changes any more. What is compared is a worker that has run for some seconds.
const warmUpJobs = 20_000;
// Until all places of a worker that was idle are taken.
const rampJobs = 250;
const latencyJobs = 60;
const prefix = `{bench-${process.pid}}`;
// A job that takes time runs at what a worker has by default. 50 at once, of 5 ms each, would ask for 10,000 jobs a second: where BullMQ alone
// is the limit the handler's time does not count, and the figure would say once more what a job without any work costs.
const concurrency = subject.handlerMs > 0 ? defaultWorkerOptions.concurrency : 50;

let handlerMs = 0;
let started: () => void = () => {};
const handler = async () => {
  started();
  if (handlerMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, handlerMs));
};

const queue = new Queue(benchContract.name, {
  connection: redisConnectionOptions("worker", redisUrl),
  prefix,
  defaultJobOptions: { removeOnComplete: 1_000 },
});

async function startSubject(): Promise<void> {
  const connection = redisConnectionOptions("worker", redisUrl);
  if (!subject.host) {
    const worker = new Worker(benchContract.name, handler, {
      ...defaultWorkerOptions,
      connection,
      prefix,
      concurrency,
    });
    await worker.waitUntilReady();
    return;
  }
  const log = createLogger({
    level: subject.logs ? "info" : "silent",
    format: "json",
    destination: { write: () => {} },
  });
  const traced = async (_: unknown, context: JobContext) => {
    if (context.traceparent) await handler();
  };
  const run = "asksForTrace" in subject ? traced : handler;
  const observers = [createJobMetrics(createRegistry(), benchContract)];
  const settings = { connection, prefix, concurrency, log, observers };
  await startWorker(benchContract, { run, keyed: handler }, settings).untilReady();
}

let added = 0;

async function preload(count: number): Promise<void> {
  const end = added + count;
  while (added < end) {
    const batch = Array.from({ length: Math.min(500, end - added) }, () => benchData(added++));
    await queue.addBulk(batch.map((data) => ({ name: subject.action, data: { type: subject.action, data } })));
  }
}

type Costs = Omit<Measurement, "medianLatencyMs">;

/** What `count` jobs cost out of a queue that was full before the worker might begin, and that is empty afterwards. */
async function drain(count: number): Promise<Costs> {
  await queue.pause();
  await preload(rampJobs + count);
  const begun = Promise.withResolvers<ReturnType<typeof snapshot>>();
  const done = Promise.withResolvers<ReturnType<typeof snapshot>>();
  let starts = 0;
  started = () => {
    starts += 1;
    if (starts === rampJobs) begun.resolve(snapshot());
    if (starts === rampJobs + count) done.resolve(snapshot());
  };
  const commandsBefore = await redisCommands();
  await queue.resume();
  const [before, after] = await Promise.all([begun.promise, done.promise]);
  const commands = (await redisCommands()) - commandsBefore;
  await untilIdle();
  return {
    jobsPerSecond: (count * 1_000) / (after.atMs - before.atMs),
    cpuMicrosPerJob: (after.cpuMicros - before.cpuMicros) / count,
    redisCommandsPerJob: commands / (rampJobs + count),
  };
}

function snapshot(): { atMs: number; cpuMicros: number } {
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), cpuMicros: user + system };
}

async function redisCommands(): Promise<number> {
  // What scripts call inside counts as well, so the scripts are counted: all that BullMQ and the host do per job are scripts.
  const info = String(await (await queue.getBackend().client).runCommand("info", ["commandstats"]));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
}

/** What is left to do for one job would be in the time of the next. */
async function untilIdle(): Promise<void> {
  while ((await queue.getActiveCount()) > 0);
}

/** Adds one job at a time to an idle worker, and takes the time until its handler starts. */
async function medianLatency(): Promise<number> {
  const times: number[] = [];
  for (let index = 0; index < latencyJobs; index++) {
    const handlerStarted = Promise.withResolvers<void>();
    started = handlerStarted.resolve;
    const data = benchData(added++);
    const addedAt = performance.now();
    await queue.add(subject.action, { type: subject.action, data });
    await handlerStarted.promise;
    times.push(performance.now() - addedAt);
    await untilIdle();
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

process.on("disconnect", () => process.exit());
process.on("message", async () => {
  const costs = await drain(jobs);
  process.send?.({ ...costs, medianLatencyMs: await medianLatency() } satisfies Measurement);
});

await startSubject();
await drain(warmUpJobs);
for (let turn = 0; turn < 4; turn++) await medianLatency();
// From here on its jobs take their time.
handlerMs = subject.handlerMs;
process.send?.("ready");
