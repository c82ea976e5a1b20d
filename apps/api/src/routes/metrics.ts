import type { Registry } from "@millrace/metrics";
import type { FastifyInstance } from "fastify";

/** `GET /metrics` for Prometheus: the process, and how the queues stand. Figures of jobs come from the workers that ran them. */
export function metricsRoutes(app: FastifyInstance, registry: Registry): void {
  app.get(
    "/metrics",
    { config: { access: "viewer" }, logLevel: "silent", schema: { hide: true } },
    async (_, reply) => {
      reply.type(registry.contentType);
      return registry.metrics();
    },
  );
}
