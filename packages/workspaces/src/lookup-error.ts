/**
 * Redis did not say in time how a workspace stands. That is not an answer: the job neither runs nor is skipped, it waits. The worker host
 * knows such an error by its fields and defers the job without using up an attempt.
 */
export class WorkspaceLookupError extends Error {
  override readonly name = "WorkspaceLookupError";
  readonly failureKind = "contention";
  readonly code = "workspace_lookup_failed";

  constructor(cause: unknown) {
    super("The directory of workspaces did not answer; the job waits until it does. Is Redis reachable?", { cause });
  }
}

const answersWithinMs = 1_000;

/** @throws WorkspaceLookupError when the answer is an error, or does not come within a second */
export async function inTime<Found>(answer: Promise<Found>): Promise<Found> {
  const tooLate = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooLate.reject(new Error(`no answer within ${answersWithinMs} ms`)), answersWithinMs);
  try {
    return await Promise.race([answer, tooLate.promise]);
  } catch (error) {
    throw new WorkspaceLookupError(withoutCommand(error));
  } finally {
    clearTimeout(timer);
  }
}

/** ioredis hangs the command on its errors, and the arguments of a connection's first one are user and password. */
export function withoutCommand<Reason>(error: Reason): Reason {
  if (error instanceof Error) Reflect.deleteProperty(error, "command");
  return error;
}
