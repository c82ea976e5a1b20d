import { plannedWaitsMs } from "@millrace/worker-config";
import type { DataSchemas, JobSkip, QueueContract, ResultSchemas } from "@millrace/worker-config/contracts";
import { type ClassifiedFailure, classifyFailure, skipOf } from "./classify-failure.ts";
import { decideOutcome } from "./decide-outcome.ts";
import type { JobHost } from "./job-host.ts";
import { type SettledStart, tellObservers } from "./job-observer.ts";
import type { JobOutcome } from "./job-outcome.ts";
import { parseJob } from "./parse-job.ts";
import { reportOutcome } from "./report-outcome.ts";
import { runJob } from "./run-job.ts";
import type { AbortSource } from "./run-with-deadline.ts";
import type { StartedJob } from "./started-job.ts";
import { storedTraceparent } from "./traceparent.ts";

/**
 * One start of a job, from the engine's hand to its outcome: parse → guard → claim → run. The engine settles what comes back. It never
 * throws, and each start ends in one log line.
 */
export function processJob<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(host: JobHost<Name, Data, Result>, job: StartedJob, abort: AbortSource | undefined): Promise<JobOutcome> {
  if (!host.tracing) return processStart(host, job, abort);
  const { action, jobId } = job;
  const identity = { queue: host.contract.name, action, jobId, attempt: job.attemptsMade + 1 };
  return host.tracing.traceAttempt({ ...identity, traceparent: storedTraceparent(job.data) }, (traceparent) =>
    processStart(host, { ...job, traceparent }, abort),
  );
}

async function processStart<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(host: JobHost<Name, Data, Result>, job: StartedJob, abort: AbortSource | undefined): Promise<JobOutcome> {
  const startedAt = performance.now();
  const waitMs = job.starts === 1 && job.replays === 0 ? Math.max(0, host.now() - job.runnableAt) : null;
  let ended: JobOutcome;
  try {
    ended = await runJob(host, job, abort);
  } catch (thrown) {
    ended = outcomeOf(thrown, host, job);
  }
  const start: SettledStart = {
    queue: host.contract.name,
    action: job.action,
    jobId: job.jobId,
    outcome: ended.outcome,
    code: codeOf(ended),
    attempt: job.attemptsMade + 1,
    waitMs,
    durationMs: performance.now() - startedAt,
  };
  reportOutcome(host.log, start, ended);
  if (host.observers) tellObservers(host.observers, start, host.log);
  return ended;
}

/** What is to become of a job that did not run to its end, whatever was thrown. */
function outcomeOf<Name extends QueueContract["name"], Data extends DataSchemas, Result extends ResultSchemas<Data>>(
  thrown: unknown,
  host: JobHost<Name, Data, Result>,
  job: StartedJob,
): JobOutcome {
  const failure = understand(thrown);
  if ("isSkip" in failure) return { outcome: "skipped", ...failure.isSkip };
  const decision = decideOutcome(failure, {
    isFinalAttempt: job.attemptsMade + 1 >= job.attemptsAllowed,
    // Asked of an ambiguous failure alone.
    get isIdempotent() {
      return hasKey(host, job);
    },
    starts: job.starts,
    ageMs: host.now() - job.runnableAt - plannedWaitsMs(job.attemptsMade, job.data),
  });
  return { ...decision, failure };
}

/** An action may name a key for some of its jobs alone. */
function hasKey<Name extends QueueContract["name"], Data extends DataSchemas, Result extends ResultSchemas<Data>>(
  { contract, handlers }: JobHost<Name, Data, Result>,
  job: StartedJob,
): boolean {
  try {
    const { action, data } = parseJob(contract, handlers, job);
    return contract.actions[action].idempotencyKey?.(data) !== undefined;
  } catch {
    return false;
  }
}

/** What was thrown may answer differently each time it is looked at, and throw the second time. */
function understand(thrown: unknown): ClassifiedFailure | { readonly isSkip: JobSkip } {
  try {
    const skip = skipOf(thrown);
    return skip ? { isSkip: skip } : classifyFailure(thrown);
  } catch {
    return classifyFailure(new Error("a handler threw what cannot be looked at"));
  }
}

function codeOf(outcome: JobOutcome): string | null {
  if (outcome.outcome === "completed") return null;
  return outcome.outcome === "skipped" ? outcome.code : outcome.failure.code;
}
