import { type Enqueued, onEnqueue } from "@millrace/worker-config";
import { type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { activeOrBelow, traceparentOf } from "./traceparent.ts";

/**
 * A span for each `enqueue` of this process, below that of whoever calls. The job carries it through Redis.
 *
 * @returns ends it
 */
export function traceEnqueues(tracer: Tracer): () => void {
  return onEnqueue(({ queue, action, traceparent }) => {
    const attributes = {
      "messaging.system": "bullmq",
      "messaging.destination.name": queue,
      "messaging.operation.name": "add",
      "messaging.operation.type": "send",
      "millrace.job.action": action,
    };
    const kind = SpanKind.PRODUCER;
    const span = tracer.startSpan(`add ${queue}`, { kind, attributes }, activeOrBelow(traceparent));
    return {
      traceparent: traceparentOf(span),
      added: (added) => endAdded(span, added),
      failed: (error) => endFailed(span, error),
    };
  });
}

function endAdded(span: Span, { jobId, status }: Enqueued): void {
  span.setAttributes({ "messaging.message.id": jobId, "millrace.enqueue.status": status });
  span.end();
}

function endFailed(span: Span, error: unknown): void {
  const code = error instanceof Error && "code" in error ? String(error.code) : "error";
  span.setAttribute("error.type", code);
  if (error instanceof Error) span.recordException(error);
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  span.end();
}
