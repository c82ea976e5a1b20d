import { hash } from "node:crypto";
import { ownKey } from "@millrace/redis";
import type { RedisClient } from "bullmq";
import type { Effect, EffectStore } from "./effect-store.ts";

// A record is `r <owner> <start> <token>` while the effect's job runs, and `d <owner> <result>` afterwards. No owner holds a space.
// One without a start, by an older version, is earlier than any; its token may begin with digits.
const scripts = {
  millraceClaimEffect: `
    local held = redis.call("GET", KEYS[1])
    if held then
      local state, owner, rest = string.match(held, "^(%a) (%S+) (.*)$")
      if state == "d" then return { "done", owner == ARGV[1] and 1 or 0, rest } end
      local isLater = tonumber(string.match(rest, "^(%d+) ") or 0) > tonumber(string.match(ARGV[2], "^(%d+) "))
      if owner ~= ARGV[1] or isLater then return { "busy" } end
    end
    redis.call("SET", KEYS[1], "r " .. ARGV[1] .. " " .. ARGV[2], "PX", ARGV[3])
    return { "claimed" }`,
  // A claim whose lease is over and that nobody took is still this one's to finish. The answer to a finish may be lost, and the command sent again:
  // that is no other's, and neither is, as far as can be seen here, that of another start of the job which came to the same result.
  millraceFinishEffect: `
    local held, done = redis.call("GET", KEYS[1]), "d " .. ARGV[1] .. " " .. ARGV[3]
    if held and held ~= done and held ~= "r " .. ARGV[1] .. " " .. ARGV[2] then return 0 end
    redis.call("SET", KEYS[1], done, "PX", ARGV[4])
    return 1`,
  millraceGiveUpEffect: `
    if redis.call("GET", KEYS[1]) == "r " .. ARGV[1] .. " " .. ARGV[2] then redis.call("DEL", KEYS[1]) end
    return 1`,
};

/** Effects in Redis, one command each over the worker's own connection: a claim waits for Redis as the worker does. */
export function createRedisEffectStore(client: Promise<RedisClient>, prefix: string): EffectStore {
  let connected: RedisClient | undefined;
  const defined = client.then((redis) => {
    for (const [name, lua] of Object.entries(scripts)) redis.defineCommand(name, { numberOfKeys: 1, lua });
    connected = redis;
    return redis;
  });
  // Whoever uses the store hears of it.
  defined.catch(() => {});
  // Once there is a client a command is on its way when this returns: whoever does not wait for the answer goes on behind it. (A Redis that has
  // forgotten its scripts is sent this one once more, behind what followed.)
  const run = async (
    script: keyof typeof scripts,
    { key, owner, start, token }: Effect,
    ...rest: (string | number)[]
  ) => (connected ?? (await defined)).runCommand(script, [keyOf(prefix, key), owner, `${start} ${token}`, ...rest]);
  return {
    claim: async (effect, leaseMs) => {
      const [state, second, third] = await run("millraceClaimEffect", effect, leaseMs);
      if (state === "done") return { state, byOwner: second === 1, result: third };
      if (state === "busy") return { state };
      return { state: "claimed" };
    },
    finish: async (effect, result, lifetimeMs) => (await run("millraceFinishEffect", effect, result, lifetimeMs)) === 1,
    giveUp: async (effect) => {
      await run("millraceGiveUpEffect", effect);
    },
  };
}

/** An idempotency key can be a mail address, or longer than a key should be: only its digest is kept. */
function keyOf(prefix: string, effectKey: string): string {
  return ownKey(prefix, "idempotency", hash("sha256", effectKey, "base64url"));
}
