import type { RedisClock } from "@millrace/redis";
import { replayFields } from "@millrace/worker-config/contracts";
import {
  type BackendFactory,
  createRedisBackend,
  type Job,
  type JobJson,
  type Processor,
  type RedisQueueBackend,
  Worker,
  type WorkerOptions,
} from "bullmq";
import { batchWrites } from "./batch-writes.ts";
import { goByRedisClock } from "./go-by-redis-clock.ts";
import { guardFetches } from "./guard-fetches.ts";
import { promotePastBroken } from "./promote-past-broken.ts";
import { isSoundRecord, readRecord } from "./sound-record.ts";
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
 * BullMQ's worker with what `docs/decisions/0005-hooks-into-bullmq.md` adds to it: a record that is broken, or gone, still becomes a job – one without a
 * name, to be quarantined; and it knows which jobs are in its hand, and renews the locks of those alone.
 *
 * BullMQ alone throws on broken JSON after the job was made active, so that it stalls, is made active, and throws again, for ever; and
 * when the broken one came along with another job's completion, that job's end is reported as a failure.
 */
export class ScreenedWorker extends Worker<unknown, unknown, string> {
  readonly #inHand = new Map<string, Job<unknown, unknown, string>>();
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

  /** A job that its processor has moved by itself is in hand no more: what is left of its processing is the fetch of the next one. */
  letGoOf(job: Job<unknown, unknown, string>): void {
    if (this.#inHand.get(job.id ?? "") === job) this.#inHand.delete(job.id ?? "");
  }

  override processJob(...parameters: Parameters<Worker["processJob"]>): ReturnType<Worker["processJob"]> {
    const [job] = parameters;
    this.#inHand.set(job.id ?? "", job);
    const processed = super.processJob(...parameters);
    const letGo = () => {
      this.letGoOf(job);
      this.#renewAsHeld(job.id ?? "");
    };
    processed.then(letGo, letGo);
    return processed;
  }

  /**
   * The same job may be in hand a second time: retried at once, or stalled and fetched again. At the end of one start BullMQ renews the lock of its
   * job no further, without a look at whose lock that is by now. The other one may be at its end as well: then nothing is renewed of what nobody holds.
   */
  #renewAsHeld(jobId: string): void {
    const held = this.#inHand.get(jobId);
    if (held) this.lockManager.trackJob(jobId, held.token ?? "", 0);
    else this.lockManager.untrackJob(jobId);
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
    backend.client.then(
      (client) => {
        promotePastBroken(client);
        batchWrites(client);
      },
      // A client that never came to life fetches nothing.
      () => {},
    );
    goByRedisClock(backend, clock);
    const execCommand = backend.execCommand.bind(backend);
    const waitForJob = backend.waitForJob.bind(backend);
    // With delayed jobs about, the loop may wait many times before it fetches.
    backend.waitForJob = (blockTimeout) => {
      loop.turns += 1;
      return waitForJob(blockTimeout);
    };
    const screen = (fetched: unknown) => screenFetchedJob(fetched, replays);
    backend.execCommand = (client, command, args) => {
      const reply = execCommand(client, command, args);
      if (!fetchingCommands.has(command)) return reply;
      loop.turns += 1;
      return Promise.resolve(reply).then(screen);
    };
    guardFetches(backend);
    return backend;
  };
}

/** A fetching command's reply is `[record, jobId, …]`, the record as field, value, field, value. */
function screenFetchedJob(reply: unknown, replays: Map<string, Replay>): unknown {
  if (!Array.isArray(reply) || !Array.isArray(reply[0])) return reply;
  const record = readRecord(reply[0]);
  if (!isSoundRecord(record)) return [[], ...reply.slice(1)];
  const count = Number(record[replayFields.count]) || 0;
  const at = Number(record[replayFields.at]) || 0;
  if (count > 0 || at > 0) replays.set(String(reply[1]), { count, at });
  return reply;
}
