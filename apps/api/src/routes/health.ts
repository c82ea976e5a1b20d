import { askQueue, contracts } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";

/** Probes. Registered before everything else and without a key: whoever restarts processes has none. */
export function healthRoutes(app: FastifyInstance): void {
  const quiet = { logLevel: "silent" as const, schema: { hide: true } };
  app.get("/livez", quiet, async () => ({ status: "ok" }));
  app.get("/readyz", quiet, async (_, reply) => {
    try {
      await askQueue(contracts.default, (queue) => queue.getWaitingCount());
      return { status: "ok" };
    } catch {
      return reply.status(503).send({ status: "unavailable", redis: "unreachable" });
    }
  });
}
