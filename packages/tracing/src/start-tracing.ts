import type { Logger } from "@millrace/logger";
import type { AttemptEnd, TracedAttempt } from "./attempt-spans.ts";
import { readTracing } from "./env.ts";
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

/**
 * Starts tracing where the environment asks for it: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or
 * `OTEL_TRACES_EXPORTER` is set, and `OTEL_SDK_DISABLED` is not `true`. Otherwise nothing is loaded, and there is nothing to pass on.
 *
 * From then on each `enqueue` of this process is traced as well. Once per process.
 *
 * @param defaultName the process's name in traces where `OTEL_SERVICE_NAME` gives none
 * @throws EnvironmentError when a variable is wrong
 */
export async function startTracing(defaultName: string, log: Logger): Promise<Tracing | undefined> {
  const { isOn, serviceName } = readTracing();
  if (!isOn) return undefined;
  const { startSdk } = await import("./start-sdk.ts");
  return startSdk(serviceName ?? defaultName, log);
}
