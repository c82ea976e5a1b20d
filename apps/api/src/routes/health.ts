import type { Database } from "@millrace/database";
import { askQueue, contracts } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";

const checkWithinMs = 1_000;

/**
 * Probes. Registered before everything else and without a key: whoever restarts processes has none. Without Redis nothing can be done, without
 * the database jobs are still added: then the API is ready, and says what is missing.
 */
export function healthRoutes(app: FastifyInstance, database: Pick<Database, "check">): void {
  const quiet = { logLevel: "silent" as const, schema: { hide: true } };
  app.get("/livez", quiet, async () => ({ status: "ok" }));
  app.get("/readyz", quiet, async (_, reply) => {
    const [hasRedis, hasDatabase] = await Promise.all([
      succeeds(askQueue(contracts.default, (queue) => queue.getWaitingCount())),
      succeeds(Promise.race([database.check(), failAfter(checkWithinMs)])),
    ]);
    const missing = { ...(!hasRedis && { redis: "unreachable" }), ...(!hasDatabase && { database: "unreachable" }) };
    if (!hasRedis) return reply.status(503).send({ status: "unavailable", ...missing });
    return { status: hasDatabase ? "ok" : "degraded", ...missing };
  });
}

function succeeds(asking: Promise<unknown>): Promise<boolean> {
  return asking.then(
    () => true,
    () => false,
  );
}

function failAfter(ms: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms).unref();
  });
}
