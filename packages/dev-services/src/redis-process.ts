import { type KeptServer, startKept } from "./keeper.ts";
import { ownAllSlots } from "./own-all-slots.ts";
import { pingRedis } from "./redis-ping.ts";

/** Which Redis to start. */
export type RedisOrder =
  /** Without `dataDir` the data lies in a fresh folder that goes with the server; without `port` on any free one. `inCluster` is a node that is to own all slots. */
  | { kind: "server"; command: string; appendOnly: boolean; inCluster?: boolean; dataDir?: string; port?: number }
  | { kind: "embedded"; port?: number };

/**
 * Starts a Redis in a keeper process and waits until it answers.
 *
 * @throws Error with the server's own reason when it does not come up
 */
export function startRedisProcess(order: RedisOrder): Promise<KeptServer> {
  const untilAnswers = order.kind === "server" && order.inCluster ? ownAllSlots : pingRedis;
  const keeper = {
    script: new URL("./redis-keeper.ts", import.meta.url),
    name: "Redis",
    isServer: order.kind === "embedded",
    untilAnswers: (port: number, withinMs: number) => untilAnswers(`redis://127.0.0.1:${port}`, withinMs),
  };
  return startKept(keeper, order);
}
