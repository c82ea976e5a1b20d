import type { Redis } from "ioredis";
import { type ChangeWord, directoryKeys, journalLength, runScript } from "./directory-in-redis.ts";
import { nameOfReference, requireId, requireKind, type WorkspaceReference } from "./workspace-ids.ts";

/**
 * What the workers know of workspaces and their owners, told by the application whose data it is. Each call is one Redis command; once it
 * is answered, every worker process goes by it within two seconds. Telling the same twice changes nothing, so an application may tell all
 * it knows again at any time.
 *
 * Every call throws the client's own error when Redis is away, and an Error for an id that is empty, longer than 256 characters or
 * holds control characters.
 */
export interface WorkspaceDirectory {
  /** Says who owns a workspace, or who owns it from now on. */
  assignWorkspace(workspaceId: string, ownerId: string): Promise<void>;
  /** From now on jobs of every workspace of this owner are skipped, those assigned later as well. */
  blockOwner(ownerId: string): Promise<void>;
  unblockOwner(ownerId: string): Promise<void>;
  /** From now on jobs of the workspace are skipped. */
  scheduleWorkspaceDeletion(workspaceId: string): Promise<void>;
  cancelWorkspaceDeletion(workspaceId: string): Promise<void>;
  /**
   * The workspaces that are scheduled for deletion, in pages, each with how long it has been so, in milliseconds. One of which no time is
   * known counts from now on.
   */
  scheduledDeletions(): AsyncIterable<{ readonly workspaceId: string; readonly forMs: number }>;
  /**
   * Removes all that is known of a workspace that is scheduled for deletion, its links included, in time that grows with their number. A
   * workspace that nobody knows is active: forget one when its deletion is done and no job of it can be left.
   *
   * @returns whether it was forgotten: one whose deletion is not scheduled, or was cancelled a moment ago, stays as it is
   */
  forgetWorkspace(workspaceId: string): Promise<boolean>;
  /** Says to which workspace something belongs, for jobs that name only this. */
  linkWorkspace(reference: WorkspaceReference, workspaceId: string): Promise<void>;
  unlinkWorkspace(reference: WorkspaceReference): Promise<void>;
}

const onlyGone = `if redis.call("SISMEMBER", gone, ARGV[2]) == 0 then return end`;
// Also of one that is scheduled already: a process that knew no times may have done so.
const dateDeletion = `
local time = redis.call("TIME")
redis.call("HSETNX", goneSince, ARGV[2], string.format("%.0f", time[1] * 1000 + math.floor(time[2] / 1000)))`;

const scripts = {
  assign: `
if redis.call("HGET", owners, ARGV[2]) == ARGV[3] then return end
redis.call("HSET", owners, ARGV[2], ARGV[3])`,
  block: `if redis.call("SADD", blocked, ARGV[2]) == 0 then return end`,
  unblock: `if redis.call("SREM", blocked, ARGV[2]) == 0 then return end`,
  scheduleDeletion: `
local isNew = redis.call("SADD", gone, ARGV[2]) == 1
${dateDeletion}
if not isNew then return end`,
  cancelDeletion: `
if redis.call("SREM", gone, ARGV[2]) == 0 then return end
redis.call("HDEL", goneSince, ARGV[2])`,
  forget: `
${onlyGone}
local references = linked .. ":" .. ARGV[2]
for _, reference in ipairs(redis.call("SMEMBERS", references)) do redis.call("HDEL", links, reference) end
redis.call("DEL", references)
redis.call("HDEL", owners, ARGV[2])
redis.call("SREM", gone, ARGV[2])
redis.call("HDEL", goneSince, ARGV[2])`,
  link: `
local before = redis.call("HGET", links, ARGV[2])
if before == ARGV[3] then return end
if before then redis.call("SREM", linked .. ":" .. before, ARGV[2]) end
redis.call("HSET", links, ARGV[2], ARGV[3])
redis.call("SADD", linked .. ":" .. ARGV[3], ARGV[2])`,
  unlink: `
local before = redis.call("HGET", links, ARGV[2])
if not before then return end
redis.call("HDEL", links, ARGV[2])
redis.call("SREM", linked .. ":" .. before, ARGV[2])`,
};

// The change and its entry in the journal are one step: no watch can see the one without the other.
const enterInJournal = `
redis.call("INCR", version)
redis.call("RPUSH", journal, ARGV[1] .. " " .. ARGV[2])
redis.call("LTRIM", journal, -${journalLength}, -1)
return 1`;

/**
 * The application's side of the directory. Redis keeps about 200 bytes for each workspace, owner, link and each of the last 10,000
 * changes. Every worker process holds the blocked owners and the workspaces scheduled for deletion whole: some 100,000 of them are
 * fine (`watchWorkspaces` has the figures).
 *
 * @param options.redis a client of the caller's, who closes it
 * @param options.prefix the QUEUE_PREFIX of the workers
 */
export function createWorkspaceDirectory({ redis, prefix }: { redis: Redis; prefix: string }): WorkspaceDirectory {
  if (redis.options.keyPrefix) {
    throw new Error("redis: expected a client without keyPrefix, got one. The workers would look under other keys.");
  }
  const keys = directoryKeys(prefix);
  const hasChanged = async (script: keyof typeof scripts, word: ChangeWord, id: string, value = "") =>
    (await runScript(redis, keys, scripts[script] + enterInJournal, word, id, value)) === 1;
  const change = async (...what: Parameters<typeof hasChanged>) => {
    await hasChanged(...what);
  };
  const workspace = (id: string) => requireId(id, "workspaceId");
  const owner = (id: string) => requireId(id, "ownerId");
  const link = ({ kind, id }: WorkspaceReference) => nameOfReference(requireKind(kind), requireId(id, "reference.id"));
  return {
    assignWorkspace: async (id, ownerId) => change("assign", "ownerAssigned", workspace(id), owner(ownerId)),
    blockOwner: async (id) => change("block", "ownerBlocked", owner(id)),
    unblockOwner: async (id) => change("unblock", "ownerUnblocked", owner(id)),
    scheduleWorkspaceDeletion: async (id) => change("scheduleDeletion", "deletionScheduled", workspace(id)),
    cancelWorkspaceDeletion: async (id) => change("cancelDeletion", "deletionCancelled", workspace(id)),
    scheduledDeletions: async function* () {
      const [seconds] = await redis.time();
      for await (const page of redis.sscanStream(keys.gone, { count: 1_000 })) {
        const ids: string[] = page;
        const since = ids.length > 0 ? await redis.hmget(keys.goneSince, ...ids) : [];
        for (const [index, workspaceId] of ids.entries()) {
          const at = since[index] ?? undefined;
          if (at === undefined) await runScript(redis, keys, onlyGone + dateDeletion, "", workspaceId);
          yield { workspaceId, forMs: at === undefined ? 0 : Math.max(0, Number(seconds) * 1_000 - Number(at)) };
        }
      }
    },
    forgetWorkspace: async (id) => hasChanged("forget", "workspaceForgotten", workspace(id)),
    linkWorkspace: async (reference, id) => change("link", "linkChanged", link(reference), workspace(id)),
    unlinkWorkspace: async (reference) => change("unlink", "linkChanged", link(reference)),
  };
}
