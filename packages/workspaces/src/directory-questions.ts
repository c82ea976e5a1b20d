import type { Redis } from "ioredis";
import { type DirectoryKeys, runScript } from "./directory-in-redis.ts";

/** What Redis knew when it had seen `version` changes. */
export interface Answer {
  readonly version: number;
  readonly answer: string | null;
}

/**
 * The blocked owners and the workspaces scheduled for deletion, in pages, so that no set is so large that Redis stands still for it. What
 * changes meanwhile may be in it or not: whoever reads it must go on with the changes since `version`.
 */
export async function readWhole(redis: Redis, keys: DirectoryKeys) {
  const version = Number((await redis.get(keys.version)) ?? 0);
  const [blockedOwners, goneWorkspaces] = await Promise.all([readSet(redis, keys.blocked), readSet(redis, keys.gone)]);
  return { version, blockedOwners, goneWorkspaces };
}

async function readSet(redis: Redis, key: string): Promise<Set<string>> {
  const members = new Set<string>();
  for await (const page of redis.sscanStream(key, { count: 1_000 })) for (const member of page) members.add(member);
  return members;
}

const changesScript = `
local now = tonumber(redis.call("GET", version) or 0)
local missing = now - tonumber(ARGV[1])
if missing == 0 then return { now, {} } end
if missing < 0 or missing > redis.call("LLEN", journal) then return false end
return { now, redis.call("LRANGE", journal, -missing, -1) }`;

/** @returns what has changed since a version, in order; undefined when the journal does not say: too far behind, or data was lost */
export async function askForChanges(
  redis: Redis,
  keys: DirectoryKeys,
  since: number,
): Promise<{ version: number; changes: readonly string[] } | undefined> {
  // The script's own form.
  const reply = (await runScript(redis, keys, changesScript, String(since))) as [number, string[]] | null;
  return reply ? { version: reply[0], changes: reply[1] } : undefined;
}

const ownerScript = `
local owner = redis.call("HGET", owners, ARGV[1])
return {
  tonumber(redis.call("GET", version) or 0),
  owner,
  owner and redis.call("SISMEMBER", blocked, owner) or 0,
  redis.call("SISMEMBER", gone, ARGV[1])
}`;

/** `answer` is the owner, null where nobody named one. */
export async function askForOwner(
  redis: Redis,
  keys: DirectoryKeys,
  workspaceId: string,
): Promise<Answer & { isBlocked: boolean; isGone: boolean }> {
  const reply = await runScript(redis, keys, ownerScript, workspaceId);
  // The script's own form.
  const [version, answer, isBlocked, isGone] = reply as [number, string | null, 0 | 1, 0 | 1];
  return { version, answer, isBlocked: isBlocked === 1, isGone: isGone === 1 };
}

const workspaceScript = `
return { tonumber(redis.call("GET", version) or 0), redis.call("HGET", links, ARGV[1]) }`;

/** `answer` is the workspace, null where nobody linked the reference. */
export async function askForWorkspace(redis: Redis, keys: DirectoryKeys, reference: string): Promise<Answer> {
  // The script's own form.
  const [version, answer] = (await runScript(redis, keys, workspaceScript, reference)) as [number, string | null];
  return { version, answer };
}
