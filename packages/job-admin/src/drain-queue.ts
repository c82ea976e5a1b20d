import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { z } from "zod";
import { statisticsKey } from "./read-queue-counts.ts";
import { readRedisTime } from "./read-redis-time.ts";

export const drainRequestSchema = z.strictObject({
  delayed: z
    .boolean()
    .default(false)
    .describe("Also what waits for its time: delayed jobs, deferred ones, and those that wait for their next attempt."),
});

export const drainReportSchema = z
  .object({
    waiting: z.int().describe("Removed, with or without a priority."),
    delayed: z.int().describe("Removed. 0 unless it was asked for."),
    isStopped: z.boolean().describe("The signal ended it; more may be left."),
  })
  .meta({ id: "DrainReport" });

export type DrainReport = z.infer<typeof drainReportSchema>;

const jobsPerCommand = 200;
// A producer's clock may be ahead of Redis'.
const clockToleranceMs = 1_000;

/**
 * Removes for good what waits in a queue, with its payloads: jobs that were added before the call. What runs goes on, and nothing that has
 * ended is touched: dead letters, completed jobs, the quarantine. Nor is a parent that waits for its children; but one whose last child is
 * removed goes with it where both are of this queue, and else runs without it. Two hundred at a time, and Redis serves others in between.
 *
 * @param signal an abort (the caller left, the time is over) ends it between two of those: what is under way is finished and counted, nothing comes
 *   back, and the report says `isStopped`. Another call goes on
 * @throws ZodError when the request is not valid
 * @throws QueueUnavailableError when Redis does not answer; what has been removed stays so
 */
export async function drainQueue(
  queue: QueueName,
  request: z.input<typeof drainRequestSchema> = {},
  signal?: AbortSignal,
): Promise<DrainReport> {
  const { delayed } = drainRequestSchema.parse(request);
  const until = (await readRedisTime(queue)) + clockToleranceMs;
  const removed = { waiting: 0, delayed: 0 };
  for (const [state, counted] of [
    ["wait", "waiting"],
    ["prioritized", "waiting"],
    ["delayed", "delayed"],
  ] as const) {
    if (state === "delayed" && !delayed) continue;
    for (;;) {
      if (signal?.aborted) return { ...removed, isStopped: true };
      const ids = await askQueue(contracts[queue], async (opened) => {
        const cleaned = await opened.clean(Date.now() - until, jobsPerCommand, state);
        // Statistics would count those that waited for another attempt among the jobs that come after them.
        const client = await opened.getBackend().client;
        if (cleaned.length > 0) await client.runCommand("zrem", [`${statisticsKey(queue)}:retrying`, ...cleaned]);
        return cleaned;
      });
      removed[counted] += ids.length;
      if (ids.length === 0) break;
    }
  }
  return { ...removed, isStopped: false };
}
