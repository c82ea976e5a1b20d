import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { readDevServicesEnv, startRedis } from "@millrace/dev-services";
import { onCleanUp } from "./directories.ts";

/** A Redis of the test's own, of the kind that the tests run on. */
export async function ownRedis(): Promise<{ url: string; pid: number }> {
  const { url, pid, stop } = await startRedis({ choice: readDevServicesEnv().DEV_REDIS });
  onCleanUp(stop);
  if (pid === undefined) throw new Error("expected a Redis of our own, got a configured one");
  return { url, pid };
}

/** A way to a Redis that can be taken away and given back, and can lead to another one afterwards. */
export interface WayToRedis {
  readonly url: string;
  /** The connections break, and nobody answers until `restore`. */
  cut(): Promise<void>;
  restore(to?: string): Promise<void>;
  /** The connections there are stay open, and nothing comes through them any more. New ones work. */
  silence(): void;
}

export async function wayTo(redisUrl: string): Promise<WayToRedis> {
  let target = new URL(redisUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    const pair = [client, connect(Number(target.port), target.hostname)] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, pair.toReversed()] as [Socket, Socket][]) {
      from.on("error", () => {});
      from.on("close", () => {
        to.destroy();
        pairs.delete(pair);
      });
      from.pipe(to);
    }
  });
  const listen = async (at: number) => {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
    // A server that listens on host and port has an address of this form.
    return (server.address() as AddressInfo).port;
  };
  const cut = async () => {
    const closed = once(server, "close");
    server.close();
    for (const [client] of pairs) client.resetAndDestroy();
    await closed;
  };
  const port = await listen(0);
  onCleanUp(() => (server.listening ? cut() : undefined));
  return {
    url: `redis://127.0.0.1:${port}`,
    cut,
    restore: async (to = redisUrl) => {
      target = new URL(to);
      await listen(port);
    },
    silence: () => {
      for (const [client, redis] of pairs) {
        client.unpipe();
        redis.unpipe();
        client.resume();
        redis.resume();
      }
    },
  };
}
