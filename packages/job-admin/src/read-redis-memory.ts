import { askQueue, contracts } from "@millrace/worker-config";

/**
 * How much memory the Redis of the queues uses and may use, in bytes; 0 where there is no `maxmemory`. Nothing where it does not say: some
 * providers hide it. Of a cluster, one node's.
 *
 * @throws QueueUnavailableError
 */
export async function readRedisMemory(): Promise<{ usedBytes: number; maxBytes: number } | undefined> {
  // Every queue is in the same Redis, so that any of them may ask.
  const info = String(
    await askQueue(contracts.email, async (queue) =>
      (await queue.getBackend().client).runCommand("info", ["memory"]).catch((error: Error) => {
        if (error.name === "ReplyError") return "";
        throw error;
      }),
    ),
  );
  const [used, max] = ["used_memory", "maxmemory"].map((name) => new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1]);
  return used === undefined || max === undefined ? undefined : { usedBytes: Number(used), maxBytes: Number(max) };
}
