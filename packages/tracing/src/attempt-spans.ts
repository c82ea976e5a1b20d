import { context, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { contextBelow, traceparentOf } from "./traceparent.ts";

/** An attempt, by what may be told of it. */
export interface TracedAttempt {
  readonly queue: string;
  readonly action: string;
  readonly jobId: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** Of the span that added the job, or that its producer named. */
  readonly traceparent: string | undefined;
}

/** What became of an attempt, as far as its span is concerned. */
export interface AttemptEnd {
  readonly outcome: string;
  readonly failure?: { readonly code: string; readonly error: Error };
}

/** What has not done its work; a job that was put off, handed back or called off has not failed. */
const failures: ReadonlySet<string> = new Set(["failed", "retry", "lost"]);

/** Names after https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/; what is ours alone begins with `millrace`. */
export function createAttemptSpans(tracer: Tracer) {
  return async <End extends AttemptEnd>(
    { queue, action, jobId, attempt, traceparent }: TracedAttempt,
    run: (traceparent: string) => Promise<End>,
  ): Promise<End> => {
    const parent = contextBelow(traceparent);
    const attributes = {
      "messaging.system": "bullmq",
      "messaging.destination.name": queue,
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.message.id": jobId,
      "millrace.job.action": action,
      "millrace.job.attempt": attempt,
    };
    const span = tracer.startSpan(`process ${queue}`, { kind: SpanKind.CONSUMER, attributes }, parent);
    try {
      const end = await context.with(trace.setSpan(parent, span), run, undefined, traceparentOf(span));
      span.setAttribute("millrace.job.outcome", end.outcome);
      if (end.failure) {
        span.setAttribute("error.type", end.failure.code);
        span.recordException(end.failure.error);
        if (failures.has(end.outcome)) span.setStatus({ code: SpanStatusCode.ERROR, message: end.failure.code });
      }
      return end;
    } finally {
      span.end();
    }
  };
}
