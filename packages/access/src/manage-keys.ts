import { listCursor, namedPlace } from "@millrace/page-cursor";
import { z } from "zod";
import { type ApiKey, type NewApiKey, newApiKeySchema } from "./api-key.ts";
import { type KeyScript, parseRecord, runKeyScript, withoutDigest } from "./key-records.ts";
import { digestSecret, newKeyText } from "./key-text.ts";

/**
 * Makes a key. It is in force at once, in every process.
 *
 * @returns the key, which nobody can read again, and its record
 * @throws ZodError when the request is not valid
 * @throws QueueUnavailableError when Redis does not answer; a key that it made all the same is listed and can be revoked
 */
export async function createApiKey(request: NewApiKey): Promise<{ readonly key: string; readonly apiKey: ApiKey }> {
  const { expiresAt = null, workspaceId = null, ...rest } = newApiKeySchema.parse(request);
  const { id, secret, text } = newKeyText();
  const apiKey: ApiKey = {
    id,
    ...rest,
    workspaceId,
    createdAt: new Date().toISOString(),
    expiresAt: expiresAt && new Date(expiresAt).toISOString(),
    lastUsedAt: null,
  };
  const fields = Object.entries({ ...apiKey, digest: digestSecret(secret).toString("hex") });
  await runKeyScript(createScript, id, ...fields.flatMap(([name, value]) => (value === null ? [] : [name, value])));
  return { key: text, apiKey };
}

const createScript: KeyScript = {
  name: "millraceCreateKey",
  lua: `redis.call("HSET", record(ARGV[1]), unpack(ARGV, 2)) return redis.call("ZADD", all, 0, ARGV[1])`,
};

const keyCursor = listCursor("keys", namedPlace);

/** Reads a `nextCursor` of `listApiKeys`, and refuses any other text. */
export const keyCursorSchema = keyCursor.schema;

export interface ApiKeyList {
  readonly items: ApiKey[];
  /** Where the next page begins; null at the end. */
  readonly nextCursor: string | null;
}

/**
 * Keys by their ids, a page at a time. One whose record cannot be read is left out: a page may be short and still have a cursor.
 *
 * @param page.cursor `nextCursor` of the page before
 * @param page.limit defaults to 50
 * @throws ZodError when no page returned the cursor
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function listApiKeys(
  page: { readonly cursor?: string | undefined; readonly limit?: number } = {},
): Promise<ApiKeyList> {
  const { limit = 50 } = page;
  const { cursor: end } = z.object({ cursor: keyCursorSchema.optional() }).parse(page);
  // The script's own form.
  const [ids, records] = (await runKeyScript(listScript, end === undefined ? "-" : `(${end}`, limit)) as [
    string[],
    unknown[],
  ];
  const items = records.flatMap((record) => parseRecord(record) ?? []).map(withoutDigest);
  return { items, nextCursor: ids.length < limit ? null : keyCursor.at(ids.at(-1)) };
}

const listScript: KeyScript = {
  name: "millraceListKeys",
  lua: `
local ids = redis.call("ZRANGEBYLEX", all, ARGV[1], "+", "LIMIT", 0, ARGV[2])
local records = {}
for i, id in ipairs(ids) do records[i] = redis.call("HGETALL", record(id)) end
return { ids, records }`,
};

/**
 * Takes a key out of force, in every process within `keyCacheMs`.
 *
 * @returns the key that it was, or nothing when there is none with this id
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function revokeApiKey(id: string): Promise<ApiKey | undefined> {
  const record = parseRecord(await runKeyScript(revokeScript, id));
  return record && withoutDigest(record);
}

const revokeScript: KeyScript = {
  name: "millraceRevokeKey",
  lua: `
local was = redis.call("HGETALL", record(ARGV[1]))
redis.call("DEL", record(ARGV[1]))
redis.call("ZREM", all, ARGV[1])
return was`,
};
