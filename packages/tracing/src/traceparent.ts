import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  TraceFlags,
  trace,
} from "@opentelemetry/api";

// https://www.w3.org/TR/trace-context/#traceparent-header
const pattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;

/** As a span is named in what crosses a border: a header, or a job's `meta`. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

/** The context below the span that a `traceparent` names; without a valid one the beginning of a new trace. */
export function contextBelow(traceparent: string | undefined): Context {
  const [, version, traceId = "", spanId = "", flags = "00"] = pattern.exec(traceparent ?? "") ?? [];
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const named: SpanContext = { traceId, spanId, traceFlags, isRemote: true };
  return version !== undefined && version !== "ff" && isSpanContextValid(named)
    ? trace.setSpanContext(ROOT_CONTEXT, named)
    : ROOT_CONTEXT;
}

/** The context of whoever calls, where that is traced; else the one below `traceparent`. */
export function activeOrBelow(traceparent: string | undefined): Context {
  const active = context.active();
  return trace.getSpan(active) ? active : contextBelow(traceparent);
}
