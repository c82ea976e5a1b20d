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

/**
 * Hands back what a lost connection made active for nobody.
 *
 * A command that fetches a job can be carried out and its reply lost with the connection. It is sent again by itself and fetches another
 * job; the first one lies under this worker's lock until that is over, and then counts as a death of its process: three of them, and a
 * healthy job is poison. So after a command that lived through the loss of its connection, the jobs under its token are looked at.
 */
export function handBackStranded(backend: RedisQueueBackend): void {
  let losses = 0;
  // A client that never came to life fetches nothing.
  backend.client.then(
    (client) => client.on("close", () => (losses += 1)),
    () => {},
  );

  async function watch<Reply>(token: string, finished: string, command: () => Promise<Reply>): Promise<Reply> {
    const before = losses;
    let fetched = "";
    try {
      const reply = await command();
      fetched = fetchedBy(reply);
      return reply;
    } finally {
      // Where that fails as well, the stalled check is left.
      if (losses !== before) await handBack(token, finished, fetched).catch(() => {});
    }
  }

  async function handBack(token: string, ...kept: [finished: string, fetched: string]): Promise<void> {
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

  const { moveToActive, moveToCompleted, moveToFailed, moveToDelayed } = backend;
  backend.moveToActive = (...args) => watch(args[0], "", () => moveToActive.apply(backend, args));
  backend.moveToCompleted = (job, value, keep, token, fetchNext) =>
    watch(token, job.id ?? "", () => moveToCompleted.call(backend, job, value, keep, token, fetchNext));
  backend.moveToFailed = (job, reason, keep, token, fetchNext, fields) =>
    watch(token, job.id ?? "", () => moveToFailed.call(backend, job, reason, keep, token, fetchNext, fields));
  backend.moveToDelayed = (jobId, timestamp, delay, token = "0", opts) =>
    watch(token, jobId, () => moveToDelayed.call(backend, jobId, timestamp, delay, token, opts));
}

/** A fetching command answers with `[record, jobId, …]`, by itself or as `result`; without a job, with zeros. */
function fetchedBy(reply: unknown): string {
  const fetched = typeof reply === "object" && reply !== null && "result" in reply ? reply.result : reply;
  return Array.isArray(fetched) ? String(fetched[1]) : "";
}
