import type { Logger } from "@millrace/logger";

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
  /** Aborts when the attempt's time is up or the worker must go. Pass it on to whatever waits: fetch, SMTP, a timer. */
  readonly signal: AbortSignal;
  /** Bound to this attempt. Payloads do not belong in it. */
  readonly log: Logger;
  /** Shown by the job's status, 0 to 100. */
  progress(percent: number): Promise<void>;
}
