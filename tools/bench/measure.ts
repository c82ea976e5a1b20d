import { createLogger } from "@millrace/logger";
import { createJobMetrics, createRegistry } from "@millrace/metrics";
import { redisConnectionOptions } from "@millrace/redis";
import { defaultWorkerOptions } from "@millrace/worker-config";
import { type JobContext, startWorker } from "@millrace/worker-host";
import { Queue, Worker } from "bullmq";
import { benchContract, benchData } from "./contract.ts";
import { type Measurement, type SubjectName, subjects } from "./measurement.ts";

// One measurement, in a process of its own so that no subject profits from another's warm code.
const [redisUrl = "", subjectName = "raw", jobCount = "0"] = process.argv.slice(2);
// The caller passes a key of `subjects`.
const subject = subjects[subjectName as SubjectName];
const jobs = Number(jobCount);
// The first 10,000 jobs of a process cost BullMQ up to a fifth more than later ones, and the host, which has more code to compile, half as
// much again. After 20,000 neither changes any more. What is compared is a worker that has run for some seconds.
const warmUpJobs = 20_000;
const latencyJobs = 300;
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

/** Starts the subject's worker, which takes what is queued. */
async function start(): Promise<{ stop(): Promise<unknown> }> {
  const connection = redisConnectionOptions("worker", redisUrl);
  if (!subject.host) {
    const worker = new Worker(benchContract.name, handler, {
      ...defaultWorkerOptions,
      connection,
      prefix,
      concurrency,
    });
    await worker.waitUntilReady();
    return { stop: () => worker.close() };
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
  const worker = startWorker(
    benchContract,
    { run, keyed: handler },
    { connection, prefix, concurrency, log, observers },
  );
  await worker.untilReady();
  return { stop: () => worker.stop(10_000) };
}

async function preload(count: number): Promise<void> {
  for (let offset = 0; offset < count; offset += 500) {
    const batch = Array.from({ length: Math.min(500, count - offset) }, (_, each) => offset + each);
    await queue.addBulk(
      batch.map((each) => ({ name: subject.action, data: { type: subject.action, data: benchData(each) } })),
    );
  }
}

type Costs = Omit<Measurement, "medianLatencyMs">;

/** Runs what is queued to its end, and says what its jobs cost once the process is warm: no start and no stop of a worker is in the times. */
async function drain(): Promise<Costs> {
  const begun = Promise.withResolvers<ReturnType<typeof snapshot>>();
  const done = Promise.withResolvers<ReturnType<typeof snapshot>>();
  let count = 0;
  started = () => {
    count += 1;
    if (count === warmUpJobs) {
      handlerMs = subject.handlerMs;
      begun.resolve(snapshot());
    }
    if (count === warmUpJobs + jobs) done.resolve(snapshot());
  };
  const commandsBefore = await redisCommands();
  const worker = await start();
  const before = await begun.promise;
  const after = await done.promise;
  await worker.stop();
  const commands = (await redisCommands()) - commandsBefore;
  return {
    jobsPerSecond: (jobs * 1_000) / (after.atMs - before.atMs),
    cpuMicrosPerJob: (after.cpuMicros - before.cpuMicros) / jobs,
    redisCommandsPerJob: commands / (warmUpJobs + jobs),
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

/** Adds one job at a time to an idle worker, and takes the time until its handler starts. */
async function medianLatency(): Promise<number> {
  const worker = await start();
  const times: number[] = [];
  for (let index = 0; index < latencyJobs; index++) {
    const handlerStarted = Promise.withResolvers<void>();
    started = handlerStarted.resolve;
    const addedAt = performance.now();
    await queue.add(subject.action, { type: subject.action, data: benchData(1_000_000 + index) });
    await handlerStarted.promise;
    times.push(performance.now() - addedAt);
    // Idle again: what is left to do for one job would be in the time of the next.
    while ((await queue.getActiveCount()) > 0);
  }
  await worker.stop();
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

await preload(warmUpJobs + jobs);
const costs = await drain();
const measurement: Measurement = { ...costs, medianLatencyMs: await medianLatency() };
await queue.obliterate({ force: true });
await queue.close();
process.send?.(measurement);
process.disconnect?.();
