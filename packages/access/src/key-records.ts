import { ownKey } from "@millrace/redis";
import { askQueue, contracts, readQueueEnv } from "@millrace/worker-config";
import { z } from "zod";
import { type ApiKey, apiKeySchema } from "./api-key.ts";

// Redis keeps texts alone, and leaves out what is not there.
const storedSchema = apiKeySchema.extend({
  digest: z.string(),
  workspaceId: z.string().nullable().default(null),
  expiresAt: z.iso.datetime().nullable().default(null),
  lastUsedAt: z.iso.datetime().nullable().default(null),
});

/** A key's record: what it may do, and the digest of its secret in hex. */
export type StoredKey = z.output<typeof storedSchema>;

/**
 * One Redis command, over the process's one connection. The script finds the sorted set of all ids, by name, as `all`, and a key's record by
 * `record(id)`; all of them share the prefix's hash tag.
 *
 * @throws QueueUnavailableError when Redis does not answer in time
 */
export async function runScript(script: string, ...values: (string | number)[]): Promise<unknown> {
  const key = (name: string) => ownKey(readQueueEnv().QUEUE_PREFIX, "access", name);
  const lua = `local all = KEYS[1]\nlocal function record(id) return KEYS[2] .. ":" .. id end\n${script}`;
  return askQueue(contracts.default, async (queue) => {
    const client = await queue.getBackend().client;
    return client.runCommand("eval", [lua, 2, key("ids"), key("by-id"), ...values]);
  });
}

/** Nothing where there is no record, or it is not one that this code can read. */
export function parseRecord(reply: unknown): StoredKey | undefined {
  if (!Array.isArray(reply)) return undefined;
  const pairs = reply.flatMap((field: unknown, index) => (index % 2 === 0 ? [[String(field), reply[index + 1]]] : []));
  const parsed = storedSchema.safeParse(Object.fromEntries(pairs));
  return parsed.success ? parsed.data : undefined;
}

export function withoutDigest({ digest: _, ...key }: StoredKey): ApiKey {
  return key;
}
