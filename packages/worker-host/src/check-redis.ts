import { StartError } from "@millrace/env";
import type { Logger } from "@millrace/logger";
import type { RedisClient } from "bullmq";

/** A Redis that may throw keys away loses jobs without a word. */
export class UnsafeRedisError extends StartError {
  override readonly name = "UnsafeRedisError";
}

/** Redis lets its user not run what a worker cannot do without. */
export class ForbiddenCommandError extends StartError {
  override readonly name = "ForbiddenCommandError";
}

/**
 * BullMQ asks a new connection for the server's version, and uses none that does not say.
 *
 * @throws ForbiddenCommandError where that is what `error` is about, else `error`
 */
export function explainRefusal(error: unknown): never {
  if (!(error instanceof Error) || !error.message.startsWith("NOPERM")) throw error;
  throw new ForbiddenCommandError(
    "The user of REDIS_URL may not run INFO, by which BullMQ learns the server's version: no job is taken. Grant it with ACL SETUSER … +info.",
    { cause: error },
  );
}

/**
 * Looks at the Redis that is to hold the jobs. One that evicts keys is refused in production and warned of elsewhere; one that keeps
 * nothing on disk, or that does not say (some providers hide it), is warned of once.
 *
 * @throws UnsafeRedisError
 */
export async function checkRedis(client: RedisClient, isProduction: boolean, log: Logger): Promise<void> {
  const info = await readInfo(client);
  const policy = info.get("maxmemory_policy");
  if (policy === undefined) {
    log.warn(
      { code: "redis_unknown" },
      "Redis does not say whether it evicts keys: expected maxmemory-policy noeviction",
    );
  } else if (policy !== "noeviction") {
    const message = `Redis may evict jobs: expected maxmemory-policy noeviction, got ${policy}. Set it in redis.conf or with CONFIG SET.`;
    if (isProduction) throw new UnsafeRedisError(message);
    log.warn({ code: "redis_evicts" }, message);
  }
  if (isProduction && info.get("aof_enabled") === "0") {
    log.warn(
      { code: "redis_not_durable" },
      "Redis keeps no append-only file: jobs of the last seconds or minutes are lost when it dies",
    );
  }
}

async function readInfo(client: RedisClient): Promise<ReadonlyMap<string, string>> {
  const answers = await Promise.all(
    ["memory", "persistence"].map((section) =>
      client.runCommand("info", [section]).then(String, (error: Error) => {
        // Forbidden to this user. That Redis is away is another matter, and the client's to tell.
        if (error.name === "ReplyError") return "";
        throw error;
      }),
    ),
  );
  const lines = answers.join("\r\n").split("\r\n");
  return new Map(lines.map((line) => [line.split(":")[0] ?? "", line.slice(line.indexOf(":") + 1)]));
}
