import type { Logger } from "@millrace/logger";
import { DiagLogLevel, diag, trace } from "@opentelemetry/api";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { createAttemptSpans } from "./attempt-spans.ts";
import { traceEnqueues } from "./enqueue-spans.ts";
import { createRequestSpans } from "./request-spans.ts";
import type { Tracing } from "./tracing.ts";

const closeWithinMs = 1_500;
// A collector that is away refuses every batch, one in five seconds.
const complainEveryMs = 60_000;

/** Loads OpenTelemetry's SDK, which reads the `OTEL_…` variables itself. */
export function startSdk(serviceName: string, log: Logger): Tracing {
  const complain = createComplaint(log);
  const silent = () => {};
  diag.setLogger(
    { error: complain, warn: complain, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  // Metrics and logs have ways of their own; without a word the SDK would send metrics too.
  const sdk = new NodeSDK({ serviceName, metricReaders: [], logRecordProcessors: [] });
  sdk.start();
  const tracer = trace.getTracer("millrace");
  const stopEnqueues = traceEnqueues(tracer);
  log.info({ serviceName }, "traces are on");
  return {
    startRequest: createRequestSpans(tracer),
    traceAttempt: createAttemptSpans(tracer),
    close: async () => {
      stopEnqueues();
      const late = Promise.withResolvers<"late">();
      const timer = setTimeout(() => late.resolve("late"), closeWithinMs);
      const ended = await Promise.race([sdk.shutdown(), late.promise]).catch((err: unknown) => complain(String(err)));
      clearTimeout(timer);
      if (ended === "late") complain(`not all was sent within ${closeWithinMs} ms`);
    },
  };
}

function createComplaint(log: Logger): (message: string) => void {
  let silentUntil = 0;
  return (message) => {
    if (performance.now() < silentUntil) return;
    silentUntil = performance.now() + complainEveryMs;
    log.warn({ code: "traces_lost", reason: message }, "traces are lost, the work goes on");
  };
}
