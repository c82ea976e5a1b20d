import { context, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { contextBelow } from "./traceparent.ts";

/** A request, by what may be told of it: a path with its parameters' names and not their values. */
export interface TracedRequest {
  readonly method: string;
  /** As it is declared: `/jobs/:queue/:jobId`. Unknown where nothing answers to the path. */
  readonly route: string | undefined;
  /** The request's header. */
  readonly traceparent: string | undefined;
}

export interface RequestSpan {
  /** Runs what belongs to the request. */
  run(work: () => void): void;
  end(status: number): void;
}

/** Names after https://opentelemetry.io/docs/specs/semconv/http/http-spans/. */
export function createRequestSpans(tracer: Tracer): (request: TracedRequest) => RequestSpan {
  return ({ method, route, traceparent }) => {
    const parent = contextBelow(traceparent);
    const attributes = { "http.request.method": method, ...(route !== undefined && { "http.route": route }) };
    const name = route === undefined ? method : `${method} ${route}`;
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const own = trace.setSpan(parent, span);
    return {
      run: (work) => context.with(own, work),
      end: (status) => {
        span.setAttribute("http.response.status_code", status);
        // What the caller did wrong is no error of ours.
        if (status >= 500) {
          span.setAttribute("error.type", String(status));
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };
}
