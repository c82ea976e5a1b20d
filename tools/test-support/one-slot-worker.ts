import { createLogger } from "@millrace/logger";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { type JobContext, PermanentError, startWorker } from "@millrace/worker-host";
import { watchWorkspaces } from "@millrace/workspaces";
import { z } from "zod";
import { createOutcomeCount } from "../../packages/worker-host/src/count-outcomes.ts";
import { reportWorker } from "../../packages/worker-host/src/report-worker.ts";

const data = z.object({ text: z.string(), workspaceId: z.string().optional() });
type Data = z.output<typeof data>;
const workspaceId = (job: Data) => job.workspaceId;

/** With everything that a contract can ask of Redis. */
export const contract = defineQueue(
  "default",
  { run: { data, workspaceId }, once: { data, workspaceId, idempotencyKey: ({ text }) => text } },
  { concurrency: 4, rateLimit: { max: 500, durationMs: 1_000 } },
);

/** A worker with all that a worker's process keeps in Redis beside its jobs: who is blocked, that it is there, what became of its jobs. */
export async function startOneSlotWorker(prefix: string): Promise<() => Promise<void>> {
  const connection = getRedisConnection("worker");
  const log = createLogger({ level: "silent" });
  const workspaces = watchWorkspaces({ connection, prefix });
  const outcomes = createOutcomeCount();
  const settings = { connection, prefix, concurrency: 4, log, workspaces, observers: [outcomes] };
  const worker = startWorker(contract, { run: handle, once: handle }, settings);
  const reported = { queue: contract.name, concurrency: 4, version: "1", outcomes, jobs: worker.jobs };
  const report = reportWorker(reported, { connection, prefix, log });
  await worker.untilReady();
  return async () => {
    await worker.stop(0);
    await report.close();
    workspaces.close();
  };
}

async function handle({ text }: Data, { attempt, note, progress, signal }: JobContext): Promise<void> {
  await note("a line");
  await progress(50);
  if (text === "dead") throw new PermanentError("no");
  if (text === "twice" && attempt === 1) throw new Error("once more");
  if (text !== "until told") return;
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}
