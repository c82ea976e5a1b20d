import { fork } from "node:child_process";
import { once } from "node:events";

/** The times of one question each, in milliseconds. */
type Times = Readonly<Record<"few" | "many", readonly number[]>>;

/** Asks for the statistics of a hundred jobs and of 100,000, and says how long each takes. */
export async function measureStats(redisUrl: string): Promise<string> {
  const prefix = `{bench-stats-${process.pid}}`;
  const child = fork(new URL("./stats-process.ts", import.meta.url), [], {
    execArgv: ["--conditions=millrace-source"],
    env: { ...process.env, REDIS_URL: redisUrl, QUEUE_PREFIX: prefix },
  });
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`The measurement of the statistics ended with code ${code} and no result.`);
  });
  const [measured]: Times[] = await Promise.race([once(child, "message"), exited]);
  exited.catch(() => {});
  if (!measured) throw new Error("The measurement of the statistics sent no result.");
  return reportStats(measured);
}

/** The median of each, and the longest. */
export function reportStats({ few, many }: Times): string {
  const say = (times: readonly number[]) => {
    const sorted = times.toSorted((a, b) => a - b);
    return `${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} ms (${sorted.at(-1)?.toFixed(1)} at most)`;
  };
  return `statistics of 100,000 jobs: ${say(many)}, promised <= 50 ms; of a hundred: ${say(few)}\n`;
}
