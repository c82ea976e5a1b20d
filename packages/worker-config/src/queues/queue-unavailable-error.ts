/**
 * Redis did not answer within the deadline.
 *
 * `mayHaveHappened` is false when the command was never sent, so that nothing was added and nothing will be. It is true when the
 * connection broke or stayed silent after the command: the job may exist, and asking again with the same `jobId` is safe.
 */
export class QueueUnavailableError extends Error {
  override readonly name = "QueueUnavailableError";
  readonly code = "queue_unavailable";
  readonly mayHaveHappened: boolean;

  constructor(queue: string, deadlineMs: number, mayHaveHappened: boolean, cause?: unknown) {
    super(
      mayHaveHappened
        ? `Queue ${queue}: Redis gave no answer within ${deadlineMs} ms. The job may have been added; asking again with the same jobId is safe.`
        : `Queue ${queue}: Redis was not reachable within ${deadlineMs} ms, or refused. No job was added; try again later.`,
      cause === undefined ? {} : { cause: withoutCommand(cause) },
    );
    this.mayHaveHappened = mayHaveHappened;
  }
}

/** ioredis hangs the command on its errors, with every argument: the whole payload would go to wherever the error is logged. */
function withoutCommand(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  Reflect.deleteProperty(cause, "command");
  Reflect.deleteProperty(cause, "previousErrors");
  return cause;
}
