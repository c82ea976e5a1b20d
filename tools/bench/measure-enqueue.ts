import { fork } from "node:child_process";
import { once } from "node:events";

/** Jobs per second of each side, in one round. */
type Rates = Readonly<Record<"addBulk" | "add" | "enqueue" | "enqueueFound", number>>;

/** Adds jobs a hundred at once, and says how single `enqueue` calls fare beside BullMQ's `addBulk` of the same hundred. */
export async function measureEnqueue(redisUrl: string, rounds: number): Promise<string> {
  const prefix = `{bench-enqueue-${process.pid}}`;
  const child = fork(new URL("./enqueue-process.ts", import.meta.url), [redisUrl, prefix, String(rounds)], {
    execArgv: ["--conditions=millrace-source"],
    env: { ...process.env, REDIS_URL: redisUrl, QUEUE_PREFIX: prefix },
  });
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`The measurement of enqueue ended with code ${code} and no result.`);
  });
  const [measured] = await Promise.race([once(child, "message"), exited]);
  exited.catch(() => {});
  return reportEnqueue(measured);
}

/** A line per kind of job: the median of the rounds' ratios, and their spread. */
export function reportEnqueue(measured: readonly Rates[]): string {
  const line = (name: string, side: keyof Rates, limit?: number) => {
    const ratios = measured.map((rates) => rates[side] / rates.addBulk).sort((a, b) => a - b);
    const ratio = ratios[Math.floor(ratios.length / 2)] ?? Number.NaN;
    const verdict = limit === undefined ? "" : `, promised >= ${limit}: ${ratio >= limit ? "kept" : "MISSED"}`;
    return `${name}: ${ratio.toFixed(2)} of addBulk (${ratios.at(0)?.toFixed(2)}–${ratios.at(-1)?.toFixed(2)})${verdict}\n`;
  };
  return [
    line("10 single enqueue calls, a hundred at once", "enqueue", 0.9),
    line("   the same, jobs that can be found", "enqueueFound", 0.9),
    line("   BullMQ's own single adds", "add"),
  ].join("");
}
