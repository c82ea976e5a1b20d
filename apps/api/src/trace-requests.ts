import type { RequestSpan, Tracing } from "@millrace/tracing";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** A span per request, but for probes and scrapes. Call it before there are routes. */
export function traceRequests(app: FastifyInstance, { startRequest }: Pick<Tracing, "startRequest">): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  app.addHook("onRequest", (request, _, done) => {
    const { method, routeOptions, headers } = request;
    if (routeOptions.logLevel === "silent") return done();
    const traceparent = typeof headers.traceparent === "string" ? headers.traceparent : undefined;
    spans.set(request, startRequest({ method, route: routeOptions.url, traceparent }));
    done();
  });
  // Here and not above: what reads a body is called by the socket, which knows nothing of the request's context.
  app.addHook("preValidation", (request, _, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    spans.get(request)?.end(reply.statusCode);
    done();
  });
}
