/** One start of a job, as an engine hands it to the host: the same from BullMQ and from memory. */
export interface StartedJob {
  readonly jobId: string;
  readonly action: string;
  /** The envelope as it was stored, unchecked. */
  readonly data: unknown;
  /** When the job was enqueued. */
  readonly createdAt: Date;
  /** When the job could first run, or could again after its replay, in milliseconds since 1970. */
  readonly runnableAt: number;
  /** Attempts that ended before this one; deferrals and hand-backs are none. */
  readonly attemptsMade: number;
  readonly attemptsAllowed: number;
  /** Starts so far, this one included; deferrals and hand-backs count. A replay begins anew. */
  readonly starts: number;
  readonly replays: number;
  /** The attempt's own, where attempts are traced. */
  readonly traceparent?: string;
  progress(percent: number): Promise<void>;
  note(line: string): Promise<void>;
}
