import type { QueueContract } from "@millrace/worker-config/contracts";
import type { Enqueue, JobContext } from "./job-context.ts";
import type { StartedJob } from "./started-job.ts";
import { traceparentOf } from "./traceparent.ts";

/** What an attempt adds to what its job says of itself. */
interface Attempt extends Pick<JobContext, "action" | "workspaceId" | "idempotencyKey" | "log" | "signal"> {
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** What a handler gets beside its data. */
export function createContext(
  { contract, enqueue }: { readonly contract: QueueContract; readonly enqueue: Enqueue },
  job: StartedJob,
  { meta, ...attempt }: Attempt,
): JobContext {
  let traceparent: string | undefined;
  const context: JobContext = {
    ...attempt,
    queue: contract.name,
    jobId: job.jobId,
    createdAt: job.createdAt,
    attempt: job.attemptsMade + 1,
    isFinalAttempt: job.attemptsMade + 1 >= job.attemptsAllowed,
    // Most handlers never ask, and then it costs nothing.
    get traceparent() {
      traceparent ??= traceparentOf(meta);
      return traceparent;
    },
    progress: job.progress,
    enqueue: (childContract, action, data, options) =>
      enqueue(childContract, action, data, {
        ...options,
        meta: { traceparent: context.traceparent, ...options?.meta },
      }),
  };
  return context;
}
