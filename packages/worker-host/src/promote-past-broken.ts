import type { RedisClient } from "bullmq";

const promotingCommands = /^(moveToActive|moveToFinished|moveToDelayed|retryJob):/;

// What BullMQ's scripts say, and what is said in its place.
const readPriority = `tonumber(rcall("HGET", jobKey, "priority")) or 0`;
const readSoundPriority = "millracePriority(jobKey)";
const soundPriority = `
local function millracePriority(jobKey)
  local stored = redis.pcall("HGET", jobKey, "priority")
  local priority = type(stored) == "string" and tonumber(stored) or 0
  -- What is no number is not even equal to itself.
  return priority == priority and priority or 0
end
`;
const clearDelay = `rcall("HSET", jobKey, "delay", 0)`;
const clearDelayIfHash = `redis.pcall("HSET", jobKey, "delay", 0)`;

/**
 * Lets jobs that are due get past one whose record is broken.
 *
 * BullMQ takes up to 1,000 due jobs out of the delayed set before it looks at the first of them. Where another kind of key lies in a record's place, or a
 * priority is no number, its script ends there, and those that come after it are in no list any more: nobody would ever run them. With this the
 * broken one begins to wait like the others; its fetch fails on it, and it is quarantined as any other.
 *
 * @param client after BullMQ has loaded its scripts. The test fails where their words are others.
 */
export function promotePastBroken(client: RedisClient): void {
  // ioredis keeps the scripts that were defined here, by their names; BullMQ's type of a client, which may be another library's, leaves it out.
  const { scriptsSet = {} } = client as { scriptsSet?: Record<string, { lua: string; numberOfKeys: number }> };
  for (const [name, { lua, numberOfKeys }] of Object.entries(scriptsSet)) {
    if (!promotingCommands.test(name)) continue;
    const mended = lua.replaceAll(readPriority, readSoundPriority).replaceAll(clearDelay, clearDelayIfHash);
    client.defineCommand(name, { numberOfKeys, lua: soundPriority + mended });
  }
}
