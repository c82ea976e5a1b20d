import { type DevRedis, startRedis } from "@millrace/dev-services";
import { Redis } from "ioredis";

export interface OneSlotRedis {
  readonly url: string;
  readonly kind: DevRedis["kind"];
  readonly client: Redis;
  /** The commands that it has refused to carry out since this was asked last, those of scripts as well. An embedded Redis refuses none. */
  refusedCommands(): Promise<string[]>;
  stop(): Promise<void>;
}

/**
 * A Redis for the keys of one prefix: in cluster mode, with the prefix's slot and no other. It refuses whatever touches a key elsewhere, also a key that
 * a script makes up itself, which a node with all slots would let pass. Where the machine has no redis-server it is the embedded one, which refuses
 * nothing: there the names of the keys have to do.
 */
export async function startOneSlotRedis(prefix: string): Promise<OneSlotRedis> {
  const server = await startRedis({ choice: "cluster" }).catch((error: Error) => {
    if (!error.message.includes("on PATH, found neither")) throw error;
    return startRedis({ choice: "embedded" });
  });
  const client = new Redis(server.url);
  if (server.kind !== "embedded") {
    const slot = await client.cluster("KEYSLOT", prefix);
    const others = Array.from({ length: 16_384 }, (_, index) => index).filter((index) => index !== slot);
    await client.cluster("DELSLOTS", ...others);
  }
  return {
    url: server.url,
    kind: server.kind,
    client,
    refusedCommands: async () => {
      if (server.kind === "embedded") return [];
      const counted = await client.info("commandstats");
      await client.config("RESETSTAT");
      return [...counted.matchAll(/^cmdstat_(.+?):.*rejected_calls=[1-9]/gm)].map(([, command]) => command ?? "");
    },
    stop: async () => {
      client.disconnect();
      await server.stop();
    },
  };
}
