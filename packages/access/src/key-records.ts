import { ownKey } from "@millrace/redis";
import { askQueue, contracts, readQueueEnv, runScript } from "@millrace/worker-config";
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

/** A script that finds the sorted set of all ids, by name, as `all`, and a key's record by `record(id)`; all of them share the prefix's hash tag. */
export interface KeyScript {
  readonly name: string;
  readonly lua: string;
}

/**
 * One Redis command, over the process's one connection.
 *
 * @throws QueueUnavailableError when Redis does not answer in time
 */
export async function runKeyScript({ name, lua }: KeyScript, ...values: (string | number)[]): Promise<unknown> {
  const key = (part: string) => ownKey(readQueueEnv().QUEUE_PREFIX, "access", part);
  const script = { name, numberOfKeys: 2, lua: `${keyNames}\n${lua}` };
  return askQueue(contracts.default, (queue) => runScript(queue, script, [key("ids"), key("by-id")], values));
}

const keyNames = `local all = KEYS[1]\nlocal function record(id) return KEYS[2] .. ":" .. id end`;

/** What is stored under a key's id, for `parseRecord`. */
export const readRecordScript: KeyScript = {
  name: "millraceReadKey",
  lua: `return redis.call("HGETALL", record(ARGV[1]))`,
};

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
