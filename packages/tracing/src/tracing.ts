import type { AttemptEnd, TracedAttempt } from "./attempt-spans.ts";
import type { RequestSpan, TracedRequest } from "./request-spans.ts";

/** Traces of one process: spans that go to whatever the `OTEL_…` variables name. */
export interface Tracing {
  /** The span of a request, which ends when it is told to. */
  startRequest(request: TracedRequest): RequestSpan;
  /**
   * Runs an attempt in a span of its own, below the one that its job carries. Whatever the handler traces is below that.
   *
   * @param run gets the attempt's `traceparent`
   */
  traceAttempt<End extends AttemptEnd>(
    attempt: TracedAttempt,
    run: (traceparent: string) => Promise<End>,
  ): Promise<End>;
  /** Sends what there is and ends. Takes 1.5 seconds at most; what was not sent by then is lost, and that is said. */
  close(): Promise<void>;
}
