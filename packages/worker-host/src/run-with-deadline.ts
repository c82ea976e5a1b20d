import { AbortedError, abortError } from "./abort-reason.ts";

/** Ends a running attempt from outside. An AbortSignal is one; what the worker uses costs less. */
export interface AbortSource {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What a running attempt can ask about its own time. */
export interface AttemptTime {
  /** Aborts at the deadline. Made when it is asked for: most handlers never do, and a signal is the dearest part of a short job. */
  signal(): AbortSignal;
  /** Whether the attempt has been settled, by its handler's end or before. What the handler still does is nobody's any more. */
  isOver(): boolean;
}

/** What a handler did after its attempt had been ended from outside. */
export type LateEnd<T> = "threw" | { readonly returned: T };

/**
 * Runs one attempt under a signal that aborts at the deadline or with `parent`. It settles at the abort at the latest: a handler that
 * ignores its signal goes on in the background, but what it returns or throws afterwards reaches nobody.
 *
 * @param onLateEnd told how the handler of an attempt that was aborted has ended after all. One that never began has thrown
 * @throws AbortedError when aborted, else what the attempt threw
 */
export function runWithDeadline<T>(
  timeoutMs: number,
  parent: AbortSource | undefined,
  attempt: (time: AttemptTime) => Promise<T>,
  onLateEnd?: (end: LateEnd<T>) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (parent?.aborted) {
      reject(abortError(parent.reason));
      onLateEnd?.("threw");
      return;
    }
    let controller: AbortController | undefined;
    let abortedBy: AbortedError | undefined;
    let isOver = false;
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
      isOver = true;
      clearTimeout(timer);
      parent?.removeEventListener("abort", onParentAbort);
    };
    parent?.addEventListener("abort", onParentAbort);
    attempt({ signal, isOver: () => isOver }).then(
      (result) => {
        end();
        resolve(result);
        if (abortedBy) onLateEnd?.({ returned: result });
      },
      (error: unknown) => {
        end();
        reject(error);
        if (abortedBy) onLateEnd?.("threw");
      },
    );
  });
}
