import type { RedisClock } from "@millrace/redis";
import { replayFields } from "@millrace/worker-config/contracts";
import {
  type BackendFactory,
  createRedisBackend,
  DelayedError,
  type Job,
  type JobJson,
  type Processor,
  type RedisQueueBackend,
  WaitingError,
  Worker,
  type WorkerOptions,
} from "bullmq";
import { goByRedisClock } from "./go-by-redis-clock.ts";
import { handBackStranded } from "./hand-back-stranded.ts";
import { promotePastBroken } from "./promote-past-broken.ts";
import { isSoundRecord } from "./sound-record.ts";
import { surfaceBroken } from "./surface-broken.ts";
import { TrackedJobs } from "./tracked-jobs.ts";

/** A job whose record nobody can read has no name, which no sound job lacks. */
export function isUnreadable(job: { readonly name: string | undefined }): boolean {
  return !job.name;
}

/** How often a job was replayed, and when last, in milliseconds since 1970. */
export interface Replay {
  readonly count: number;
  readonly at: number;
}

const neverReplayed: Replay = { count: 0, at: 0 };

/**
 * BullMQ's worker, with one thing more: a record that is broken, or gone, still becomes a job – one without a name, to be quarantined.
 *
 * BullMQ alone throws on broken JSON after the job was made active, so that it stalls, is made active, and throws again, for ever; and
 * when the broken one came along with another job's completion, that job's end is reported as a failure.
 */
export class ScreenedWorker extends Worker<unknown, unknown, string> {
  readonly #inHand = new Set<Job<unknown, unknown, string>>();
  readonly #replays: Map<string, Replay>;
  readonly #loop: FetchLoop;

  constructor(name: string, processor: Processor<unknown, unknown, string>, options: WorkerOptions, clock: RedisClock) {
    const replays = new Map<string, Replay>();
    const loop = { turns: 0 };
    super(name, processor, options, screenedBackend(replays, loop, clock));
    Object.assign(this.lockManager, { trackedJobs: new TrackedJobs() });
    this.#replays = replays;
    this.#loop = loop;
  }

  /** How often Redis was asked for a job so far. It stands still when the loop does that asks. */
  get fetchTurns(): number {
    return this.#loop.turns;
  }

  /** What a job's record said of its replays when it was fetched, which BullMQ's Job leaves out. To be asked once per start. */
  takeReplay(jobId: string): Replay {
    const replay = this.#replays.get(jobId);
    if (!replay) return neverReplayed;
    this.#replays.delete(jobId);
    return replay;
  }

  /** Jobs that were fetched, and of which Redis has not recorded yet what became of them. */
  get jobsInHand(): number {
    return this.#inHand.size;
  }

  override async processJob(...parameters: Parameters<Worker["processJob"]>): ReturnType<Worker["processJob"]> {
    const [job] = parameters;
    this.#inHand.add(job);
    try {
      return await super.processJob(...parameters);
    } finally {
      this.#inHand.delete(job);
    }
  }

  protected override async callProcessJob(
    job: Job<unknown, unknown, string>,
    ...rest: [token: string, signal?: AbortSignal]
  ): Promise<unknown> {
    try {
      return await super.callProcessJob(job, ...rest);
    } catch (error) {
      // Moved already: what is left of its processing is the fetch of the next one.
      if (error instanceof DelayedError || error instanceof WaitingError) this.#inHand.delete(job);
      throw error;
    }
  }

  /** Ends the connections and timers of a worker whose `close` does not come to its end. */
  async letGo(): Promise<void> {
    await this.lockManager.close();
    // Stops the stalled check, which would hold the process until its next turn.
    await this.pause(true);
    await this.getBackend().close(true);
  }

  protected override createJob(record: JobJson, jobId: string): Job<unknown, unknown, string> {
    try {
      return super.createJob(record, jobId);
    } catch {
      return super.createJob({ ...record, data: "{}", name: "" }, jobId);
    }
  }
}

interface FetchLoop {
  turns: number;
}

const fetchingCommands = new Set(["moveToActive", "moveToFinished", "moveToDelayed"]);

function screenedBackend(
  replays: Map<string, Replay>,
  loop: FetchLoop,
  clock: RedisClock,
): BackendFactory<RedisQueueBackend> {
  return (...parameters) => {
    const backend = createRedisBackend(...parameters);
    // A client that never came to life fetches nothing.
    backend.client.then(promotePastBroken, () => {});
    goByRedisClock(backend, clock);
    const execCommand = backend.execCommand.bind(backend);
    const waitForJob = backend.waitForJob.bind(backend);
    // With delayed jobs about, the loop may wait many times before it fetches.
    backend.waitForJob = (blockTimeout) => {
      loop.turns += 1;
      return waitForJob(blockTimeout);
    };
    backend.execCommand = (client, command, args) => {
      const reply = execCommand(client, command, args);
      if (!fetchingCommands.has(command)) return reply;
      loop.turns += 1;
      return Promise.resolve(reply).then((fetched) => screenFetchedJob(fetched, replays));
    };
    // In this order: what the first brings to light was fetched, and is not handed back.
    surfaceBroken(backend);
    handBackStranded(backend);
    return backend;
  };
}

/** A fetching command's reply is `[record, jobId, …]`, the record as field, value, field, value. */
function screenFetchedJob(reply: unknown, replays: Map<string, Replay>): unknown {
  if (!Array.isArray(reply) || !Array.isArray(reply[0])) return reply;
  const record: readonly unknown[] = reply[0];
  if (!isSoundRecord(record)) return [[], ...reply.slice(1)];
  const count = numberIn(record, replayFields.count);
  const at = numberIn(record, replayFields.at);
  if (count > 0 || at > 0) replays.set(String(reply[1]), { count, at });
  return reply;
}

function numberIn(record: readonly unknown[], field: string): number {
  const index = record.findIndex((name, position) => position % 2 === 0 && name === field);
  return index < 0 ? 0 : Number(record[index + 1]) || 0;
}
