import { fork } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import type { KeeperAnswer, KeeperOrder } from "./redis-keeper-protocol.ts";

export interface RedisProcess {
  readonly port: number;
  /** The process that is the server; a test may kill or freeze it. */
  readonly pid: number;
  /** Resolves with a sentence when the server is gone without having been stopped. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** Starts a Redis in a keeper process and waits until it answers. */
export async function startRedisProcess(order: Exclude<KeeperOrder, { kind: "end" }>): Promise<RedisProcess> {
  const keeper = fork(new URL("./redis-keeper.ts", import.meta.url), {
    execArgv: ["--conditions=source"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    detached: true,
  });
  const gone = once(keeper, "exit");
  const exited = gone.then(() => "the development Redis ended by itself");
  keeper.send(order);
  const answered = once(keeper, "message").then(([answer]: KeeperAnswer[]) => answer);
  const answer = await Promise.race([answered, exited.then((reason): KeeperAnswer => ({ kind: "failed", reason }))]);
  if (answer?.kind !== "started") throw new Error(`Redis did not start: ${answer?.reason ?? "no answer"}.`);
  const { port, pid } = answer;
  const stop = async () => {
    keeper.ref();
    if (keeper.connected) keeper.send({ kind: "end" } satisfies KeeperOrder);
    await gone;
  };
  try {
    await pingRedis(`redis://127.0.0.1:${port}`, 10_000);
  } catch (error) {
    await stop();
    throw error;
  }
  // An idle development Redis must not keep its parent alive; the channel's end is what ends it.
  keeper.unref();
  keeper.channel?.unref();
  return { port, pid, exited, stop };
}

/**
 * Waits until the Redis at `url` answers.
 *
 * @throws Error after `deadlineMs`, with the last reason and without the URL's credentials
 */
export async function pingRedis(url: string, deadlineMs: number): Promise<void> {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(20 * attempt, 200),
    connectTimeout: deadlineMs,
  });
  let reason = "no answer";
  redis.on("error", (error: Error) => {
    reason = error.message;
  });
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms (${reason})`)), deadlineMs);
  try {
    await Promise.race([redis.ping(), tooLate]);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}
