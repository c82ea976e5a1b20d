import type { RedisQueueBackend } from "bullmq";

// Each fetch has a token of its own, so a job under that token which is not the fetched one is nobody's.
const script = `
local stranded = {}
for _, jobId in ipairs(redis.call("LRANGE", KEYS[1], 0, -1)) do
  if jobId ~= ARGV[2] and jobId ~= ARGV[3] and redis.call("GET", ARGV[1] .. jobId .. ":lock") == ARGV[4] then
    stranded[#stranded + 1] = jobId
  end
end
return stranded`;

/** Knows when a command may have left a job behind, and hands it back. */
export interface StrandedJobs {
  /** How often the connection was lost so far. */
  losses(): number;
  /** Looks at the jobs under a fetch's token, but for the one that it ended and the one that it fetched. Never rejects. */
  handBack(token: string, ended: string, fetched: string): Promise<void>;
}

/**
 * Hands back what a lost connection made active for nobody.
 *
 * A command that fetches a job can be carried out and its reply lost with the connection. It is sent again by itself and fetches another
 * job; the first one lies under this worker's lock until that is over, and then counts as a death of its process: three of them, and a
 * healthy job is poison. So after a command that lived through the loss of its connection, the jobs under its token are looked at.
 */
export function watchStranded(backend: RedisQueueBackend): StrandedJobs {
  let losses = 0;
  // A client that never came to life fetches nothing.
  backend.client.then(
    (client) => client.on("close", () => (losses += 1)),
    () => {},
  );

  async function handBack(token: string, ...kept: [ended: string, fetched: string]): Promise<void> {
    const client = await backend.client;
    client.defineCommand("millraceFindStranded", { numberOfKeys: 1, lua: script });
    const stranded: string[] = await client.runCommand("millraceFindStranded", [
      backend.toKey("active"),
      backend.toKey(""),
      ...kept,
      token,
    ]);
    for (const jobId of stranded) await backend.moveJobFromActiveToWait(jobId, token);
  }

  return {
    losses: () => losses,
    // Where that fails as well, the stalled check is left.
    handBack: (token, ended, fetched) => handBack(token, ended, fetched).catch(() => {}),
  };
}
