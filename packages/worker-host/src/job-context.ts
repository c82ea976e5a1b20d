import type { Logger } from "@millrace/logger";
import type { enqueue } from "@millrace/worker-config";

/** Adds a job to any queue: `enqueue` of `@millrace/worker-config`, or its twin in memory. */
export type Enqueue = typeof enqueue;

/** What a handler gets beside its data. */
export interface JobContext {
  readonly queue: string;
  readonly action: string;
  readonly jobId: string;
  /** When the job was enqueued. */
  readonly createdAt: Date;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly isFinalAttempt: boolean;
  /**
   * What the contract's `idempotencyKey` says of this job. Hand it on to the service that has the effect, where that takes one; together with
   * `workspaceId` where several workspaces have one account there, since each may have the same key.
   */
  readonly idempotencyKey: string | undefined;
  /** The workspace that the job belongs to, where its contract names one. */
  readonly workspaceId: string | undefined;
  /** W3C trace context: the enqueuer's, else one that begins here. */
  readonly traceparent: string;
  /** The labels that its enqueue gave it; a scheduled job has `scheduleId` and `dueAt`. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Aborts when the attempt's time is up or the worker must go. Pass it on to whatever waits: fetch, SMTP, a timer. */
  readonly signal: AbortSignal;
  /** The process's log, bound to this attempt. Payloads do not belong in it. */
  readonly log: Logger;
  /**
   * Shown by the job's status, 0 to 100. It never rejects: what a job says is no part of what it does. After the attempt's end, at its deadline for
   * instance, it does nothing.
   */
  progress(percent: number): Promise<void>;
  /**
   * A line for whoever looks at this job: in its details, on the dashboard and, while it runs, to those who follow it as an event `log`. The last
   * hundred are kept with the job, each 2,000 characters at most. It never rejects, and after the attempt's end it does nothing.
   */
  note(line: string): Promise<void>;
  /**
   * Adds a job that belongs to the same trace, unless its own labels or bytes leave no room for it. An attempt that is repeated enqueues again: name a
   * `jobId` made of this job's where that must not add a second job.
   */
  readonly enqueue: Enqueue;
}
