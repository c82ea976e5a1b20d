import { ownKey } from "@millrace/redis";
import { askQueue, contracts, readQueueEnv } from "@millrace/worker-config";

/** The keys of all schedules. They share the prefix's hash tag, so that one script may use them all. */
function scheduleKeys() {
  const key = (name: string) => ownKey(readQueueEnv().QUEUE_PREFIX, "schedules", name);
  return {
    /** Sorted set of ids by when they are due next. While one is dealt with: by when another process may take it up. */
    due: key("due"),
    /** Sorted set of all ids, by name. */
    all: key("all"),
    /** With `:<owner>`: sorted set of an owner's ids, by name. */
    of: key("of"),
    /** With `:<id>`: hash of one schedule. `definition`, `owner`, `cadence`, `anchor`, `due`, `paused`, and what became of it. */
    byId: key("by-id"),
    /** Which process registered the code's schedules last. */
    registration: key("registration"),
  };
}

const functions = `
local function arm(id, at)
  redis.call("HSET", byId .. ":" .. id, "due", at)
  if at == "" then redis.call("ZREM", due, id) else redis.call("ZADD", due, at, id) end
end
local function put(id, owner, definition, cadence, anchor, firstDue)
  local key = byId .. ":" .. id
  if redis.call("HGET", key, "cadence") ~= cadence then
    redis.call("HSET", key, "cadence", cadence, "anchor", anchor)
    arm(id, redis.call("HEXISTS", key, "paused") == 1 and "" or firstDue)
  end
  redis.call("HSET", key, "definition", definition, "owner", owner)
  redis.call("ZADD", all, 0, id)
  redis.call("ZADD", of .. ":" .. owner, 0, id)
end
local function remove(id)
  local owner = redis.call("HGET", byId .. ":" .. id, "owner")
  redis.call("DEL", byId .. ":" .. id)
  redis.call("ZREM", due, id)
  redis.call("ZREM", all, id)
  if not owner then return 0 end
  redis.call("ZREM", of .. ":" .. owner, id)
  return 1
end
local function now()
  local time = redis.call("TIME")
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function text(number) return string.format("%.0f", number) end
`;

/**
 * One Redis command, over the process's one connection. The script finds the keys under their names and the functions above.
 *
 * @throws QueueUnavailableError when Redis does not answer in time
 */
export async function runScript(script: string, ...values: (string | number)[]): Promise<unknown> {
  const keys = scheduleKeys();
  const names = Object.keys(keys);
  const lua = `local ${names.join(", ")} = unpack(KEYS)\n${functions}\n${script}`;
  return askQueue(contracts.schedule, async (queue) => {
    const client = await queue.getBackend().client;
    return client.runCommand("eval", [lua, names.length, ...Object.values(keys), ...values]);
  });
}

/** Whose a schedule is, as the keys say it. */
export function ownerOf(workspaceId: string | null): string {
  return workspaceId === null ? "code" : `workspace:${workspaceId}`;
}
