import { DamagedRecordError } from "./damaged-record-error.ts";
import { withDeadline } from "./deadline.ts";
import { type Asked, QueueUnavailableError } from "./queue-unavailable-error.ts";
import { isConnectionLost, isOfAnotherKind, isRefusal, isUnsent } from "./redis-errors.ts";

/**
 * Puts a question to Redis that does not outlive the deadline.
 *
 * @param asked what the error is to speak of. Defaults to a question
 * @throws QueueUnavailableError
 * @throws DamagedRecordError where another kind of key lies in a record's place, which is no outage
 */
export type Ask = <T>(question: () => Promise<T>, asked?: Asked) => Promise<T>;

/**
 * What lets a queue's callers wait for Redis within a deadline, and tells them whether what they asked for may have happened.
 *
 * @param connect resolves when a question can be sent. All that wait for it share it
 */
export function createAsk(queue: string, deadlineMs: number, connect: () => Promise<void>): Ask {
  let connecting: Promise<void> | undefined;
  const connected = () => {
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  };
  return async (question, asked = "question") => {
    const startedAt = performance.now();
    const unavailable = (cause?: unknown) => new QueueUnavailableError(queue, deadlineMs, asked, false, cause);
    const unanswered = (cause?: unknown) => new QueueUnavailableError(queue, deadlineMs, asked, true, cause);
    await withDeadline(connected(), deadlineMs, unavailable).catch((error: unknown) => {
      throw error instanceof QueueUnavailableError ? error : unavailable(error);
    });
    const leftMs = deadlineMs - (performance.now() - startedAt);
    return withDeadline(question(), leftMs, unanswered).catch((error: unknown) => {
      // To a producer it is a refusal like any other; who asks about jobs wants to know which of them is damaged.
      if (asked === "question" && isOfAnotherKind(error)) throw new DamagedRecordError(queue);
      // A bulk is many commands: Redis may have refused the last of them alone.
      if (isRefusal(error)) throw asked === "jobs" ? unanswered(error) : unavailable(error);
      if (isUnsent(error)) throw unavailable(error);
      throw isConnectionLost(error) ? unanswered(error) : error;
    });
  };
}
