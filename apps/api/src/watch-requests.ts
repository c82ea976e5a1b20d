import type { HttpMetrics } from "@millrace/metrics";
import type { FastifyInstance } from "fastify";
import { whenOver } from "./response-end.ts";

/** A line in the log and an observation in the metrics for each request, at its end. Call it before there are other hooks. */
export function watchRequests(app: FastifyInstance, { began, answered }: HttpMetrics): void {
  app.addHook("onRequest", async ({ log, method, url, is404, routeOptions }, reply) => {
    began();
    whenOver(reply, (status) => {
      const durationMs = reply.elapsedTime;
      answered({ method, route: is404 ? undefined : routeOptions.url, status, durationMs });
      log.info({ method, path: url.split("?")[0], status, durationMs: Math.round(durationMs) }, "request");
    });
  });
}
