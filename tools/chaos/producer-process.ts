/** An application that enqueues all the time and gives no job up: it asks again until it has an answer. */
import { setTimeout as wait } from "node:timers/promises";
import { type CancelOutcome, cancelJob } from "@millrace/job-admin";
import { closeQueues, enqueue, QueueUnavailableError } from "@millrace/worker-config";
import { chaosContract } from "./contract.ts";
import { type PlannedJob, planJobs } from "./plan-jobs.ts";

export type ProducerMessage =
  | {
      kind: "acknowledged";
      jobId: string;
      status: "created" | "duplicate";
      /** How often Redis was not reachable before there was an answer. */
      refusals: number;
      /** One of the errors said that the job may have been added. */
      mayHaveHappened: boolean;
    }
  | { kind: "cancelled"; jobId: string; cancellation: CancelOutcome }
  | { kind: "done" };

const lanes = 20;
const askAgainAfterMs = 50;

process.on("disconnect", () => process.exit(1));

const [seed, jobs, seconds] = process.argv.slice(2).map(Number);
const plan = planJobs(seed ?? 0, jobs ?? 0, seconds ?? 0);
const startedAt = performance.now();
const cancelling: Promise<void>[] = [];
let next = 0;

await Promise.all(Array.from({ length: lanes }, runLane));
await Promise.all(cancelling);
await closeQueues();
process.send?.({ kind: "done" } satisfies ProducerMessage, () => process.exit(0));

/** Enqueues the next job of the plan when its time has come, then the next. */
async function runLane(): Promise<void> {
  for (let planned = plan[next++]; planned; planned = plan[next++]) {
    await wait(Math.max(0, planned.dueMs - (performance.now() - startedAt)));
    await add(planned);
    if (planned.cancelAfterMs !== undefined) cancelling.push(cancel(planned.jobId, planned.cancelAfterMs));
  }
}

async function add({ jobId, job, options }: PlannedJob): Promise<void> {
  let refusals = 0;
  let mayHaveHappened = false;
  const { status } = await untilAvailable(
    () => enqueue(chaosContract, job.type, job.data, { ...options, jobId }),
    (error) => {
      refusals += 1;
      mayHaveHappened ||= error.mayHaveHappened;
    },
  );
  tell({ kind: "acknowledged", jobId, status, refusals, mayHaveHappened });
}

async function cancel(jobId: string, afterMs: number): Promise<void> {
  await wait(afterMs);
  const { outcome } = await untilAvailable(() => cancelJob(chaosContract.name, jobId));
  tell({ kind: "cancelled", jobId, cancellation: outcome });
}

async function untilAvailable<T>(
  ask: () => Promise<T>,
  onRefusal: (error: QueueUnavailableError) => void = () => {},
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof QueueUnavailableError)) throw error;
      onRefusal(error);
      await wait(askAgainAfterMs);
    }
  }
}

function tell(message: ProducerMessage): void {
  process.send?.(message);
}
