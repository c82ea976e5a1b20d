import { AbortedError } from "./abort-reason.ts";

/** Ends a running attempt from outside. An AbortSignal whose reason is an AbortedError is one; what the worker uses costs less. */
export interface AbortSource {
  /** Where it has aborted. */
  readonly reason: AbortedError | undefined;
  addEventListener(type: "abort", listener: AbortListener): void;
  removeEventListener(type: "abort", listener: AbortListener): void;
}

/** As the DOM knows it: an object, so that no function is made for each job. */
export interface AbortListener {
  handleEvent(): void;
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
  if (!parent?.reason) return new TimedAttempt(parent, onLateEnd).run(timeoutMs, attempt);
  onLateEnd?.("threw");
  return Promise.reject(parent.reason);
}

/** A class: as functions of their own its methods would be made for each job, and cost a short one more than its validation. */
class TimedAttempt<T> implements AttemptTime, AbortListener {
  readonly #parent: AbortSource | undefined;
  readonly #onLateEnd: ((end: LateEnd<T>) => void) | undefined;
  readonly #end = Promise.withResolvers<T>();
  #timer: NodeJS.Timeout | undefined;
  #controller: AbortController | undefined;
  #abortedBy: AbortedError | undefined;
  #isOver = false;

  constructor(parent: AbortSource | undefined, onLateEnd: ((end: LateEnd<T>) => void) | undefined) {
    this.#parent = parent;
    this.#onLateEnd = onLateEnd;
  }

  run(timeoutMs: number, attempt: (time: AttemptTime) => Promise<T>): Promise<T> {
    const onTimeout = () => this.#abort(new AbortedError("timeout", `The attempt took longer than ${timeoutMs} ms.`));
    this.#timer = setTimeout(onTimeout, timeoutMs);
    this.#parent?.addEventListener("abort", this);
    begin(attempt, this).then(
      (result) => this.#returned(result),
      (error: unknown) => this.#threw(error),
    );
    return this.#end.promise;
  }

  signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#abortedBy) this.#controller.abort(this.#abortedBy);
    }
    return this.#controller.signal;
  }

  isOver(): boolean {
    return this.#isOver;
  }

  handleEvent(): void {
    if (this.#parent?.reason) this.#abort(this.#parent.reason);
  }

  #abort(error: AbortedError): void {
    this.#abortedBy = error;
    this.#end.reject(error);
    this.#stop();
    this.#controller?.abort(error);
  }

  #returned(result: T): void {
    this.#stop();
    this.#end.resolve(result);
    if (this.#abortedBy) this.#onLateEnd?.({ returned: result });
  }

  #threw(error: unknown): void {
    this.#stop();
    this.#end.reject(error);
    if (this.#abortedBy) this.#onLateEnd?.("threw");
  }

  #stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener("abort", this);
  }
}

/** A handler that is no async function may throw at once. */
function begin<T>(attempt: (time: AttemptTime) => Promise<T>, time: AttemptTime): Promise<T> {
  try {
    return attempt(time);
  } catch (error) {
    return Promise.reject(error);
  }
}
