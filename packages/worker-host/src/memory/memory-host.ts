import type { Logger } from "@millrace/logger";
import type { ActionInput, JobAction, JobStatus, QueueContract, QueueName } from "@millrace/worker-config/contracts";
import type { Enqueue } from "../job-context.ts";
import type { WorkspaceStandings } from "../job-host.ts";
import type { ExpectedData } from "./assert-enqueued.ts";
import type { MemoryCancellation, MemoryReplay } from "./memory-queue.ts";

export interface MemoryHostSettings {
  /** Defaults to warnings and errors as JSON on standard output. */
  readonly log?: Logger;
  /** The time that passes by itself, in milliseconds since 1970; `fastForward` adds to it. Defaults to the system's. */
  readonly now?: () => number;
  /** How many jobs of each queue run at once, where its contract does not say less. Defaults to a worker's 10. */
  readonly concurrency?: number;
  /** Who is blocked; without it nobody is. */
  readonly workspaces?: WorkspaceStandings;
}

/**
 * Queues and workers in one process, without Redis: for scripts, small tools and tests. What happens to a job is decided by the same code
 * as in a worker process. What ends with the process is everything else: its jobs, and what it knows of them.
 */
export interface MemoryHost {
  /**
   * Adds a job as `enqueue` of `@millrace/worker-config` does, with the same refusals. A queue that nobody hosts takes jobs as well: they
   * wait, and can be asserted.
   *
   * @throws InvalidJobError
   * @throws MemoryHostStoppedError
   */
  readonly enqueue: Enqueue;
  /** The status of one job, or nothing when the queue holds no such job (any more). */
  findJob(queue: QueueName, jobId: string): JobStatus | undefined;
  /** What the job's handler said of it with `context.note`, the last hundred lines. */
  readNotes(queue: QueueName, jobId: string): readonly string[];
  cancelJob(queue: QueueName, jobId: string): MemoryCancellation;
  /** Jobs that failed for good, the first that failed first. They are kept until the process ends. */
  deadLetters(queue?: QueueName): JobStatus[];
  /** Lets a job that failed, or was cancelled, run as if it were new. */
  replayDeadLetter(queue: QueueName, jobId: string): MemoryReplay;
  /**
   * For tests: that such jobs were enqueued, whatever has become of them since. A queue remembers its last 10,000 ended jobs.
   *
   * @param expected fields that the data holds, each compared as a whole, or a predicate on the data as it was enqueued
   * @param options.times exactly so many; defaults to at least one
   * @throws AssertionError that shows the data of what was enqueued instead
   */
  assertEnqueued<Contract extends QueueContract, Action extends JobAction<Contract>>(
    contract: Contract,
    action: Action,
    expected?: ExpectedData<ActionInput<Contract, Action>>,
    options?: { readonly times?: number },
  ): void;
  /**
   * Resolves when no hosted queue has anything left to run: retries and delayed jobs included, at their time. It waits in real time, as a
   * script must that meets a service which asked for patience; a test takes `fastForward`.
   */
  drain(): Promise<void>;
  /**
   * Runs what is there to its end, and moves the host's time on over every wait: delays, backoffs, rate limits. Jobs run in the order of
   * their time, and time stands still while one runs. The clock that a handler reads by itself, and the timeout of an attempt, stay real.
   *
   * @param ms moves time on by exactly so much, and runs what is due within it. Defaults to as far as it takes to leave nothing, and to 30
   *   days at most: a job that keeps enqueuing itself has no end.
   * @throws RangeError when `ms` is negative or no number
   */
  fastForward(ms?: number): Promise<void>;
  /**
   * Takes no more jobs and waits for those that run. At the deadline their signals abort, and they count as not ended.
   *
   * @returns the jobs that have not ended, those of queues that nobody hosts included: they are lost, and the log says so as an error
   */
  stop(graceMs: number): Promise<readonly JobStatus[]>;
}

/** A job came after the end. Nothing was added. */
export class MemoryHostStoppedError extends Error {
  override readonly name = "MemoryHostStoppedError";
}
