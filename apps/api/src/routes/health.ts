import type { Database } from "@millrace/database";
import type { FileStore } from "@millrace/file-store";
import { createPartsCheck } from "@millrace/health";
import type { QueueFigures } from "@millrace/metrics";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { pingRedis } from "../watch-redis.ts";

/** Above which a queue is `degraded`. */
export interface QueueLimits {
  /** Jobs that could run and wait for a worker. */
  readonly maxDepth: number;
  readonly maxDeadLetters: number;
}

export interface HealthParts {
  readonly database: Database;
  readonly files: FileStore;
  readonly readQueues: () => Promise<readonly QueueFigures[]>;
  readonly limits: QueueLimits;
  /** Whether another process in this one's place is the only help. */
  readonly isWedged: () => boolean;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
}

/**
 * Probes. Registered before everything else and without a key: whoever restarts processes has none. Without Redis the API is not ready.
 * Without its database or its files, and while a queue is over its limits or unknown, it is `degraded` and stays in service: enqueueing needs none
 * of them.
 */
export function healthRoutes(app: FastifyInstance, parts: HealthParts): void {
  const { database, files, readQueues, limits, isWedged, closing } = parts;
  const quiet = { config: { access: "public" }, logLevel: "silent", schema: { hide: true } } as const;
  const checkParts = createPartsCheck({
    redis: pingRedis,
    database: () => database.check(),
    files: () => files.check(),
  });
  app.get("/livez", quiet, async (_, reply) => {
    return isWedged() ? reply.status(503).send({ status: "wedged" }) : { status: "ok" };
  });
  app.get("/readyz", quiet, async (_, reply) => {
    const [there, figures] = await Promise.all([checkParts(), readQueues().catch(() => [])]);
    const states = Object.fromEntries(
      Object.entries(there).map(([name, isThere]) => [name, isThere ? "ok" : "unavailable"]),
    );
    if (closing.aborted) return reply.status(503).send({ status: "draining", ...states });
    if (!there.redis) return reply.status(503).send({ status: "unavailable", ...states });
    const known = new Map(figures.map((queue) => [queue.queue, standOf(queue, limits)]));
    const queues = Object.fromEntries(queueNames.options.map((name) => [name, known.get(name) ?? unknown]));
    const isFine =
      Object.values(there).every(Boolean) && Object.values(queues).every(({ status }) => status === "healthy");
    return { status: isFine ? "ok" : "degraded", ...states, queues };
  });
}

// Redis answers, and not about this queue: it is slow, or one of the queue's keys is damaged.
const unknown = { status: "unknown" } as const;

function standOf({ depth: { waiting: depth }, deadLetters }: QueueFigures, limits: QueueLimits) {
  const isOver = depth > limits.maxDepth || deadLetters > limits.maxDeadLetters;
  return { status: isOver ? "degraded" : "healthy", depth, deadLetters };
}
