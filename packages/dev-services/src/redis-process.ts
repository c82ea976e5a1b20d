import { type KeptServer, startKept } from "./keeper.ts";
import { pingRedis } from "./redis-ping.ts";

/** Which Redis to start. */
export type RedisOrder =
  /** Without `dataDir` the data lies in a fresh folder that goes with the server; without `port` on any free one. */
  | { kind: "server"; command: string; appendOnly: boolean; dataDir?: string; port?: number }
  | { kind: "embedded"; port?: number };

/**
 * Starts a Redis in a keeper process and waits until it answers.
 *
 * @throws Error with the server's own reason when it does not come up
 */
export function startRedisProcess(order: RedisOrder): Promise<KeptServer> {
  const keeper = {
    script: new URL("./redis-keeper.ts", import.meta.url),
    name: "Redis",
    isServer: order.kind === "embedded",
    untilAnswers: (port: number, withinMs: number) => pingRedis(`redis://127.0.0.1:${port}`, withinMs),
  };
  return startKept(keeper, order);
}
