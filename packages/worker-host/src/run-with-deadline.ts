import { TransientError } from "./job-error.ts";

/**
 * Runs one attempt under a signal that aborts at the deadline or with `parent`. It settles at the abort at the latest: a handler that
 * ignores its signal goes on in the background, but what it returns or throws afterwards reaches nobody.
 *
 * @throws TransientError `timeout` or `aborted`, else what the attempt threw
 */
export async function runWithDeadline<T>(
  timeoutMs: number,
  parent: AbortSignal | undefined,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (code: string, message: string) => controller.abort(new TransientError(message, { code }));
  const timer = setTimeout(() => abort("timeout", `The attempt took longer than ${timeoutMs} ms.`), timeoutMs);
  // BullMQ aborts with a string; whoever rejects with the reason should reject with an Error.
  const onParentAbort = () => abort("aborted", `The attempt was aborted: ${String(parent?.reason)}`);
  if (parent?.aborted) onParentAbort();
  parent?.addEventListener("abort", onParentAbort, { once: true });
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  if (controller.signal.aborted) reject(controller.signal.reason);
  try {
    return await Promise.race([aborted, attempt(controller.signal)]);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener("abort", onParentAbort);
  }
}
