import type { Logger } from "@millrace/logger";
import {
  type DataSchemas,
  defaultTimeoutMs,
  type QueueContract,
  type ResultSchemas,
} from "@millrace/worker-config/contracts";
import type { Job } from "bullmq";
import type { z } from "zod";
import { type ClassifiedFailure, classifyFailure } from "./classify-failure.ts";
import { type AttemptFacts, decideOutcome, type FailureOutcome } from "./decide-outcome.ts";
import type { JobContext } from "./job-context.ts";
import type { JobHandlers } from "./job-handlers.ts";
import { type ParsedJob, parseJob } from "./parse-job.ts";
import { runWithDeadline } from "./run-with-deadline.ts";
import { settleFailure } from "./settle-failure.ts";

type FetchedJob = Job<unknown, unknown, string>;

/**
 * One attempt of a job, from BullMQ's hand and back: parse → run → settle. Each ends in one log line and in one outcome: it returns the
 * result, or throws what `settleFailure` says.
 */
export async function processJob<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(
  contract: QueueContract<Name, Data, Result>,
  handlers: JobHandlers<Data, Result>,
  log: Logger,
  job: FetchedJob,
  token: string | undefined,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const startedAt = performance.now();
  const context = describeAttempt(contract.name, job, log);
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const parsed = parseJob(contract, job);
    const returned = await runHandler(contract, handlers, parsed, context, signal);
    const result = toStoredResult(contract.actions[parsed.action].result, returned, context.log);
    context.log.info({ outcome: "completed", durationMs: durationMs() }, "job completed");
    return result;
  } catch (thrown) {
    const failure = classifyFailure(thrown);
    const decision = decideOutcome(failure, factsOf(contract, job, context));
    logFailure(context.log, failure, decision, durationMs());
    throw await settleFailure(job, token, failure, decision);
  }
}

type AttemptContext = Omit<JobContext, "signal">;

function describeAttempt(queue: string, job: FetchedJob, log: Logger): AttemptContext {
  const attempt = job.attemptsMade + 1;
  const identity = { queue, action: job.name, jobId: job.id ?? "", attempt };
  return {
    ...identity,
    createdAt: new Date(job.timestamp),
    isFinalAttempt: attempt >= (job.opts?.attempts ?? 1),
    log: log.child(identity),
    progress: (percent) => job.updateProgress(percent),
  };
}

// Generic in the action, so that schema, data and handler stay one action's.
async function runHandler<
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
  Action extends keyof Data & string,
>(
  contract: QueueContract<QueueContract["name"], Data, Result>,
  handlers: JobHandlers<Data, Result>,
  { action, data, run }: ParsedJob<Data, Action>,
  context: AttemptContext,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const timeoutMs = run.timeoutMs ?? contract.actions[action].timeout ?? defaultTimeoutMs;
  return runWithDeadline(timeoutMs, signal, (attemptSignal) =>
    handlers[action](data, { ...context, signal: attemptSignal }),
  );
}

/** A result that its schema refuses is dropped, not retried: the effect has happened, and must not happen again for its report's sake. */
function toStoredResult(schema: z.ZodType | undefined, returned: unknown, log: Logger): unknown {
  if (!schema) return undefined;
  const parsed = schema.safeParse(returned);
  if (parsed.success) return parsed.data;
  log.warn(
    { code: "result_dropped", fields: parsed.error.issues.map((issue) => issue.path.join(".")) },
    "result not valid",
  );
  return undefined;
}

function factsOf(contract: QueueContract, job: FetchedJob, { isFinalAttempt }: AttemptContext): AttemptFacts {
  return {
    isFinalAttempt,
    isIdempotent: contract.actions[job.name]?.idempotencyKey !== undefined,
    starts: job.attemptsStarted,
    ageMs: Date.now() - (job.timestamp + (job.opts?.delay ?? 0)),
  };
}

const severity = {
  failed: "error",
  retry: "warn",
  lost: "warn",
  deferred: "info",
  cancelled: "info",
  handed_back: "info",
} as const;

function logFailure(log: Logger, failure: ClassifiedFailure, decision: FailureOutcome, durationMs: number): void {
  const fields = { ...decision, code: failure.code, durationMs, err: failure.error };
  log[severity[decision.outcome]](fields, `job ${decision.outcome.replace("_", " ")}`);
}
