/** An add, an add in bulk, or anything else. */
export type Asked = "job" | "jobs" | "question";

const consequences: Readonly<Record<Asked, { readonly sent: string; readonly unsent: string }>> = {
  job: {
    sent: "The job may have been added; asking again with the same jobId is safe.",
    unsent: "No job was added; try again later.",
  },
  jobs: {
    sent: "Some of the jobs may have been added; asking again with the same jobIds is safe.",
    unsent: "No job was added; try again later.",
  },
  question: { sent: "Try again later.", unsent: "Try again later." },
};

/**
 * Redis did not answer within the deadline, or refused.
 *
 * `mayHaveHappened` is false when the command was never sent, or refused, so that nothing was added and nothing will be. It is true when the
 * connection broke or stayed silent after the command, or refused a part of a bulk: the job may exist, and asking again with the same
 * `jobId` is safe.
 */
export class QueueUnavailableError extends Error {
  override readonly name = "QueueUnavailableError";
  readonly code = "queue_unavailable";
  readonly mayHaveHappened: boolean;

  constructor(queue: string, deadlineMs: number, asked: Asked, mayHaveHappened: boolean, cause?: unknown) {
    const what =
      mayHaveHappened && asked !== "jobs"
        ? `gave no answer within ${deadlineMs} ms`
        : `was not reachable within ${deadlineMs} ms, or refused`;
    super(
      `Queue ${queue}: Redis ${what}. ${consequences[asked][mayHaveHappened ? "sent" : "unsent"]}`,
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
