import { createLogger } from "@millrace/logger";
import { settlesWithin } from "@millrace/shutdown";
import { defaultWorkerOptions, type Enqueued, prepareEnqueue } from "@millrace/worker-config";
import type { JobStatus, QueueContract, QueueName } from "@millrace/worker-config/contracts";
import { assertJobs } from "./assert-enqueued.ts";
import { createHostClock } from "./host-clock.ts";
import type { HostedQueue } from "./hosted-queue.ts";
import { createMemoryEffectStore } from "./memory-effect-store.ts";
import { type MemoryHost, type MemoryHostSettings, MemoryHostStoppedError } from "./memory-host.ts";
import { createMemoryQueue, type MemoryQueue } from "./memory-queue.ts";
import { createMemoryWorker } from "./memory-worker.ts";

const longestFastForwardMs = 30 * 24 * 60 * 60_000;
const afterAbortMs = 5_000;

/**
 * Starts queues and workers in this process. It opens no connection and reads no environment. Jobs run as soon as they may.
 *
 * @throws RangeError when two of `hosts` are of one queue, or the concurrency is no positive whole number
 */
export function startMemoryHost(hosts: readonly HostedQueue[], settings: MemoryHostSettings = {}): MemoryHost {
  const { concurrency = defaultWorkerOptions.concurrency, workspaces } = settings;
  const log = settings.log ?? createLogger({ name: "memory", level: "warn", format: "json" });
  checkHosts(hosts, concurrency);
  const clock = createHostClock(settings.now ?? (() => Date.now()));
  const { now } = clock;
  const queues = new Map<QueueName, MemoryQueue>();
  const change = createChange();
  let isStopped = false;
  let stopping: Promise<readonly JobStatus[]> | undefined;

  const parts = { effects: createMemoryEffectStore(now), workspaces, enqueue, log, now };
  const workers = new Map(
    hosts.map((host) => [host.name, createMemoryWorker(host, queueOf(host.name), concurrency, parts, change.tell)]),
  );

  function queueOf(name: QueueName): MemoryQueue {
    const queue = queues.get(name) ?? createMemoryQueue(name, now);
    queues.set(name, queue);
    return queue;
  }

  /** After whatever may let a job start, or leave none that could. */
  function wake(name: QueueName): void {
    workers.get(name)?.wake();
    change.tell();
  }

  async function enqueue(
    contract: QueueContract,
    action: string,
    data: unknown,
    options: unknown = {},
  ): Promise<Enqueued> {
    if (isStopped) {
      throw new MemoryHostStoppedError(`No job ${contract.name}/${action} was added: the host has stopped.`);
    }
    const job = prepareEnqueue(contract, action, data, options, now());
    if (!queues.has(contract.name)) {
      log.warn(
        { code: "not_hosted", queue: contract.name },
        "jobs of a queue that this host has no handlers for will wait",
      );
    }
    const added = queueOf(contract.name).add(job);
    wake(contract.name);
    return added;
  }

  const list = () => [...workers.values()];
  const nextStartAt = () => Math.min(...list().map((worker) => worker.nextStartAt()));

  async function untilIdle(): Promise<void> {
    while (list().some((worker) => worker.isBusy())) await change.next();
  }

  async function stop(graceMs: number): Promise<readonly JobStatus[]> {
    for (const worker of list()) worker.takeNoMore();
    change.tell();
    if (!(await settlesWithin(untilIdle(), graceMs))) {
      for (const worker of list()) worker.interrupt();
      await settlesWithin(untilIdle(), afterAbortMs);
    }
    isStopped = true;
    const lost = [...queues.values()]
      .flatMap((queue) => statuses(queue))
      .filter((status) => status.finishedAt === null);
    if (lost.length > 0) {
      log.error(
        { code: "jobs_lost", jobs: lost.length },
        "the host has stopped, and nothing keeps the jobs that had not ended",
      );
    }
    return lost;
  }

  return {
    enqueue,
    findJob: (name, jobId) => {
      const queue = queues.get(name);
      const job = queue?.find(jobId);
      return queue && job && queue.statusOf(job);
    },
    readNotes: (name, jobId) => [...(queues.get(name)?.find(jobId)?.notes ?? [])],
    cancelJob: (name, jobId) => {
      const answer = queues.get(name)?.cancel(jobId) ?? "unknown";
      if (answer === "cancelling") workers.get(name)?.cancel(jobId);
      if (answer === "cancelled") {
        log.info({ queue: name, jobId, outcome: "cancelled", code: "cancelled" }, "job cancelled before it ran");
      }
      wake(name);
      return answer;
    },
    deadLetters: (name) =>
      [...queues.values()]
        .filter((queue) => name === undefined || queue.name === name)
        .flatMap(statuses)
        .filter(({ status }) => status === "failed")
        .sort((a, b) => (a.finishedAt ?? "").localeCompare(b.finishedAt ?? "")),
    replayDeadLetter: (name, jobId) => {
      const answer = queues.get(name)?.replay(jobId) ?? "unknown";
      wake(name);
      return answer;
    },
    assertEnqueued: (contract, action, expected, { times } = {}) => {
      const enqueued = [...(queues.get(contract.name)?.all() ?? [])].filter((job) => job.action === action);
      const data = enqueued.map(({ envelope }) => JSON.parse(envelope).data);
      assertJobs(`${contract.name}/${action}`, data, expected, times);
    },
    drain: async () => {
      for (;;) {
        await untilIdle();
        if (nextStartAt() === Number.POSITIVE_INFINITY) return;
        await change.next();
      }
    },
    fastForward: async (ms) => {
      if (ms !== undefined && !(ms >= 0 && ms < Number.POSITIVE_INFINITY)) {
        throw new RangeError(`fastForward: expected milliseconds, 0 or more, got ${ms}.`);
      }
      const until = now() + Math.floor(ms ?? longestFastForwardMs);
      for (;;) {
        await untilIdle();
        const next = nextStartAt();
        if (next > until) break;
        clock.skipTo(next);
        for (const worker of list()) worker.wake();
      }
      if (ms !== undefined) clock.skipTo(until);
    },
    stop: (graceMs) => {
      stopping ??= stop(graceMs);
      return stopping;
    },
  };
}

function statuses(queue: MemoryQueue): JobStatus[] {
  return [...queue.all()].map((job) => queue.statusOf(job));
}

function checkHosts(hosts: readonly HostedQueue[], concurrency: number): void {
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`Memory host: expected concurrency to be a positive whole number, got ${concurrency}.`);
  }
  const names = hosts.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice) throw new RangeError(`Memory host: expected each queue once, got ${twice} twice.`);
}

/** Tells whoever waits that something has changed; what, they look for themselves. */
function createChange(): { next(): Promise<void>; tell(): void } {
  let waited = Promise.withResolvers<void>();
  return {
    next: () => waited.promise,
    tell: () => {
      const { resolve } = waited;
      waited = Promise.withResolvers<void>();
      resolve();
    },
  };
}
