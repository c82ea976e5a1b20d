import type { RequestSpan, Tracing } from "@millrace/tracing";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { whenOver } from "./response-end.ts";

/** A span per request, but for probes and scrapes. Call it before there are routes. */
export function traceRequests(app: FastifyInstance, { startRequest }: Pick<Tracing, "startRequest">): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  app.addHook("onRequest", (request, reply, done) => {
    const { method, routeOptions, headers } = request;
    if (routeOptions.logLevel === "silent") return done();
    const traceparent = typeof headers.traceparent === "string" ? headers.traceparent : undefined;
    const span = startRequest({ method, route: routeOptions.url, traceparent });
    spans.set(request, span);
    whenOver(reply, (status) => span.end(status));
    done();
  });
  // Here and not above: what reads a body is called by the socket, which knows nothing of the request's context.
  app.addHook("preValidation", (request, _, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
}
