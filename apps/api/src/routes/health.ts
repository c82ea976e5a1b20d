import type { Database } from "@millrace/database";
import { askQueue, contracts } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";

const isThere = (answer: Promise<unknown>) =>
  answer.then(
    () => "ok" as const,
    () => "unavailable" as const,
  );

/**
 * Probes. Registered before everything else and without a key: whoever restarts processes has none. Without Redis the API is not ready;
 * without its database it is `degraded` and stays in service, since enqueueing needs none.
 */
export function healthRoutes(app: FastifyInstance, database: Database): void {
  const quiet = { config: { access: "public" }, logLevel: "silent", schema: { hide: true } } as const;
  app.get("/livez", quiet, async () => ({ status: "ok" }));
  app.get("/readyz", quiet, async (_, reply) => {
    const [redis, databaseState] = await Promise.all([
      isThere(askQueue(contracts.default, (queue) => queue.getWaitingCount())),
      isThere(database.check()),
    ]);
    const parts = { redis, database: databaseState };
    if (redis !== "ok") return reply.status(503).send({ status: "unavailable", ...parts });
    return { status: databaseState === "ok" ? "ok" : "degraded", ...parts };
  });
}
