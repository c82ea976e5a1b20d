import type { Logger } from "@millrace/logger";
import { InvalidJobError } from "@millrace/worker-config";
import { maxMetaEntries, type QueueContract } from "@millrace/worker-config/contracts";
import type { Enqueue, JobContext } from "./job-context.ts";
import { noteOf } from "./job-note.ts";
import type { AttemptTime } from "./run-with-deadline.ts";
import type { StartedJob } from "./started-job.ts";
import { traceparentOf } from "./traceparent.ts";

interface Host {
  readonly contract: QueueContract;
  readonly enqueue: Enqueue;
  readonly log: Logger;
}

/** What an attempt adds to what its job says of itself. */
interface Attempt extends Pick<JobContext, "workspaceId" | "idempotencyKey"> {
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly time: AttemptTime;
}

/** What a handler gets beside its data. What most handlers never ask for is made when one does, so that it costs the others nothing. */
export function createContext(host: Host, job: StartedJob, attempt: Attempt): JobContext {
  return new AttemptContext(host, job, attempt);
}

class AttemptContext implements JobContext {
  readonly queue: string;
  readonly action: string;
  readonly jobId: string;
  readonly createdAt: Date;
  readonly attempt: number;
  readonly isFinalAttempt: boolean;
  readonly idempotencyKey: string | undefined;
  readonly workspaceId: string | undefined;
  readonly #host: Host;
  readonly #job: StartedJob;
  readonly #attempt: Attempt;
  #log: Logger | undefined;
  #traceparent: string | undefined;

  constructor(host: Host, job: StartedJob, attempt: Attempt) {
    this.#host = host;
    this.#job = job;
    this.#attempt = attempt;
    this.queue = host.contract.name;
    this.action = job.action;
    this.jobId = job.jobId;
    this.createdAt = job.createdAt;
    this.attempt = job.attemptsMade + 1;
    this.isFinalAttempt = job.attemptsMade + 1 >= job.attemptsAllowed;
    this.idempotencyKey = attempt.idempotencyKey;
    this.workspaceId = attempt.workspaceId;
    this.#traceparent = job.traceparent;
  }

  get meta(): JobContext["meta"] {
    return this.#attempt.meta;
  }

  get signal(): AbortSignal {
    return this.#attempt.time.signal();
  }

  // Functions of their own, as `enqueue` is.
  get progress(): JobContext["progress"] {
    return async (percent) => {
      if (!Number.isFinite(percent)) return;
      await this.#tell(() => this.#job.progress(Math.min(Math.max(percent, 0), 100)));
    };
  }

  get note(): JobContext["note"] {
    return async (line) => this.#tell(() => this.#job.note(noteOf(line)));
  }

  /**
   * What a job says is no part of what it does: nothing fails because it cannot be told. An attempt that is over says nothing more: the next one
   * may be at it, or the job at its end.
   */
  async #tell(say: () => Promise<void>): Promise<void> {
    if (this.#attempt.time.isOver()) return;
    try {
      await say();
    } catch (err) {
      this.log.debug({ code: "not_told", err }, "what a job says of itself was not written");
    }
  }

  get log(): Logger {
    const { queue, action, jobId, attempt } = this;
    this.#log ??= this.#host.log.child({ queue, action, jobId, attempt });
    return this.#log;
  }

  get traceparent(): string {
    this.#traceparent ??= traceparentOf(this.#attempt.meta);
    return this.#traceparent;
  }

  // A function of its own, so that a handler may take it out of the context.
  get enqueue(): Enqueue {
    const { traceparent } = this;
    return async (contract, action, data, options) => {
      const meta = { traceparent, ...options?.meta };
      // A job whose own labels or bytes leave no room is not to be refused for one that its handler did not ask for.
      if (Object.keys(meta).length > maxMetaEntries) return this.#host.enqueue(contract, action, data, options);
      return this.#host.enqueue(contract, action, data, { ...options, meta }).catch((error: unknown) => {
        if (!(error instanceof InvalidJobError && error.code === "payload_too_large")) throw error;
        return this.#host.enqueue(contract, action, data, options);
      });
    };
  }
}
