import { createLogger } from "@millrace/logger";
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
const warmUpJobs = Math.min(2_000, jobs);
const latencyJobs = 300;
const prefix = `{bench-${process.pid}}`;
const concurrency = 50;

let started: () => void = () => {};
const handler = async () => {
  started();
  if (subject.handlerMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, subject.handlerMs));
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
  const worker = startWorker(benchContract, { run, keyed: handler }, { connection, prefix, concurrency, log });
  await worker.untilReady();
  return { stop: () => worker.stop(10_000) };
}

async function preload(count: number, offset: number): Promise<void> {
  for (let index = 0; index < count; index += 500) {
    const batch = Array.from({ length: Math.min(500, count - index) }, (_, each) => offset + index + each);
    await queue.addBulk(
      batch.map((each) => ({ name: subject.action, data: { type: subject.action, data: benchData(each) } })),
    );
  }
}

/** Runs that many queued jobs to their end and says how long they took. */
async function drain(count: number): Promise<{ seconds: number; cpuMicros: number; redisCommands: number }> {
  const done = Promise.withResolvers<void>();
  let left = count;
  started = () => {
    left -= 1;
    if (left === 0) done.resolve();
  };
  const commandsBefore = await redisCommands();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const worker = await start();
  await done.promise;
  await worker.stop();
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  return { seconds, cpuMicros: cpu.user + cpu.system, redisCommands: (await redisCommands()) - commandsBefore };
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
  }
  await worker.stop();
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

await preload(warmUpJobs, 0);
await drain(warmUpJobs);
await preload(jobs, warmUpJobs);
const { seconds, cpuMicros, redisCommands: commands } = await drain(jobs);
const measurement: Measurement = {
  jobsPerSecond: jobs / seconds,
  cpuMicrosPerJob: cpuMicros / jobs,
  redisCommandsPerJob: commands / jobs,
  medianLatencyMs: await medianLatency(),
};
await queue.obliterate({ force: true });
await queue.close();
process.send?.(measurement);
process.disconnect?.();
