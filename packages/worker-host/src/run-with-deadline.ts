import { AbortedError, abortError } from "./abort-reason.ts";

/** Ends a running attempt from outside. An AbortSignal is one; what the worker uses costs less. */
export interface AbortSource {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * Runs one attempt under a signal that aborts at the deadline or with `parent`. It settles at the abort at the latest: a handler that
 * ignores its signal goes on in the background, but what it returns or throws afterwards reaches nobody.
 *
 * @param attempt gets its signal from a function: most handlers never ask, and a signal is the dearest part of a short job
 * @throws AbortedError when aborted, else what the attempt threw
 */
export function runWithDeadline<T>(
  timeoutMs: number,
  parent: AbortSource | undefined,
  attempt: (signal: () => AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (parent?.aborted) return reject(abortError(parent.reason));
    let controller: AbortController | undefined;
    let abortedBy: AbortedError | undefined;
    const signal = () => {
      if (!controller) {
        controller = new AbortController();
        if (abortedBy) controller.abort(abortedBy);
      }
      return controller.signal;
    };
    const abort = (error: AbortedError) => {
      abortedBy = error;
      // First, or a handler that rejects as it hears of the abort would settle the attempt with an error of its own.
      reject(error);
      end();
      controller?.abort(error);
    };
    const onParentAbort = () => abort(abortError(parent?.reason));
    const timer = setTimeout(
      () => abort(new AbortedError("timeout", `The attempt took longer than ${timeoutMs} ms.`)),
      timeoutMs,
    );
    const end = () => {
      clearTimeout(timer);
      parent?.removeEventListener("abort", onParentAbort);
    };
    parent?.addEventListener("abort", onParentAbort);
    attempt(signal).then(
      (result) => {
        end();
        resolve(result);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
