import { AbortedError, abortError } from "./abort-reason.ts";

/**
 * Runs one attempt under a signal that aborts at the deadline or with `parent`. It settles at the abort at the latest: a handler that
 * ignores its signal goes on in the background, but what it returns or throws afterwards reaches nobody.
 *
 * @throws AbortedError when aborted, else what the attempt threw
 */
export async function runWithDeadline<T>(
  timeoutMs: number,
  parent: AbortSignal | undefined,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (parent?.aborted) throw abortError(parent.reason);
  const controller = new AbortController();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (error: AbortedError) => {
    // First, or a handler that rejects as it hears of the abort would settle the attempt with an error of its own.
    reject(error);
    controller.abort(error);
  };
  const timer = setTimeout(
    () => abort(new AbortedError("timeout", `The attempt took longer than ${timeoutMs} ms.`)),
    timeoutMs,
  );
  const onParentAbort = () => abort(abortError(parent?.reason));
  parent?.addEventListener("abort", onParentAbort, { once: true });
  try {
    return await Promise.race([aborted, attempt(controller.signal)]);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener("abort", onParentAbort);
  }
}
