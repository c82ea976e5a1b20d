import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { redisConnectionOptions } from "@millrace/redis";
import { Queue } from "bullmq";
import { rateContract } from "./contract.ts";

const processes = 2;
const jobs = 60;

/** Runs jobs of a queue that declares a rate through two worker processes, and says at which rate they started. */
export async function measureRate(redisUrl: string): Promise<string> {
  const prefix = `{bench-rate-${process.pid}}`;
  const queue = new Queue(rateContract.name, { connection: redisConnectionOptions("worker", redisUrl), prefix });
  await queue.addBulk(Array.from({ length: jobs }, () => ({ name: "run", data: { type: "run", data: {} } })));
  const workers = Array.from({ length: processes }, () =>
    fork(new URL("./rate-process.ts", import.meta.url), [redisUrl, prefix], {
      execArgv: ["--conditions=millrace-source"],
    }),
  );
  const starts = await collectStarts(workers);
  for (const worker of workers) {
    worker.send("stop");
    await once(worker, "exit");
  }
  const stuck = await queue.getJobCountByTypes("waiting", "active", "delayed", "prioritized");
  await queue.obliterate({ force: true });
  await queue.close();
  const { max, durationMs } = rateContract.settings.rateLimit ?? { max: 0, durationMs: 0 };
  const perSecond = ((jobs - max) * 1_000) / ((starts.at(-1) ?? 0) - (starts[0] ?? 0));
  const declared = (max * 1_000) / durationMs;
  return `rate limit over ${processes} processes: ${perSecond.toFixed(2)} a second of ${declared} declared (${(perSecond / declared).toFixed(3)}; promised within 0.9 and 1.1), ${stuck} jobs left behind\n`;
}

async function collectStarts(workers: readonly ChildProcess[]): Promise<number[]> {
  const starts: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const worker of workers) {
    worker.on("message", (startedAt) => {
      starts.push(Number(startedAt));
      if (starts.length === jobs) resolve();
    });
  }
  await promise;
  return starts.sort((a, b) => a - b);
}
