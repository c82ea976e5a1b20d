import { randomUUID } from "node:crypto";
import type { Logger } from "@millrace/logger";
import type { Tracing } from "@millrace/tracing";
import { plannedWaitsMs } from "@millrace/worker-config";
import {
  type DataSchemas,
  defaultIdempotencyLifetimeMs,
  defaultTimeoutMs,
  type JobSkip,
  type QueueContract,
  type ResultSchemas,
} from "@millrace/worker-config/contracts";
import { resolveWorkspaceId, type WorkspaceWatch, withBlockedOwnerGuard } from "@millrace/workspaces";
import { type ClassifiedFailure, classifyFailure, skipOf } from "./classify-failure.ts";
import { createContext } from "./create-context.ts";
import { decideOutcome } from "./decide-outcome.ts";
import type { Effect, EffectStore } from "./effect-store.ts";
import type { Enqueue } from "./job-context.ts";
import { PermanentError } from "./job-error.ts";
import type { JobHandlers } from "./job-handlers.ts";
import { type JobObserver, tellObservers } from "./job-observer.ts";
import type { JobOutcome } from "./job-outcome.ts";
import { once } from "./once.ts";
import { type ParsedJob, parseJob } from "./parse-job.ts";
import { reportOutcome } from "./report-outcome.ts";
import { type AbortSource, type LateEnd, runWithDeadline } from "./run-with-deadline.ts";
import type { StartedJob } from "./started-job.ts";
import { toStoredResult } from "./stored-result.ts";
import { storedTraceparent } from "./traceparent.ts";

/** What the host asks of the directory of workspaces. */
export type WorkspaceStandings = Pick<WorkspaceWatch, "standingOf" | "workspaceOf">;

/** A contract, its handlers, and whatever the host needs to run them. It knows no engine. */
export interface JobHost<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
> {
  readonly contract: QueueContract<Name, Data, Result>;
  readonly handlers: JobHandlers<Data, Result>;
  readonly effects: EffectStore;
  /** Without it nobody is blocked. */
  readonly workspaces: WorkspaceStandings | undefined;
  readonly enqueue: Enqueue;
  readonly log: Logger;
  /** Whoever counts what becomes of jobs. Defaults to nobody. */
  readonly observers?: readonly JobObserver[] | undefined;
  /** Without it nothing is traced, and a job's `traceparent` goes on as it is. */
  readonly tracing?: Pick<Tracing, "traceAttempt"> | undefined;
  /** The engine's clock, in milliseconds since 1970: the one that `runnableAt` of a started job was read from. */
  now(): number;
}

/** What is left of a claim when its attempt has ended at its deadline: time to record what happened. */
const leaseMarginMs = 15_000;

/** More than a job has starts before it is a dead letter: a start after a replay comes after all before it. */
const startsPerReplay = 1_000;

/**
 * One start of a job, from the engine's hand to its outcome: parse → guard → claim → run. The engine settles what comes back. It never
 * throws, and each start ends in one log line.
 */
export async function processJob<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(host: JobHost<Name, Data, Result>, job: StartedJob, abort: AbortSource | undefined): Promise<JobOutcome> {
  const startedAt = performance.now();
  const waitMs = job.starts === 1 && job.replays === 0 ? Math.max(0, host.now() - job.runnableAt) : null;
  const attempt = job.attemptsMade + 1;
  const identity = { queue: host.contract.name, action: job.action, jobId: job.jobId, attempt };
  const outcome = host.tracing
    ? await host.tracing.traceAttempt({ ...identity, traceparent: storedTraceparent(job.data) }, (traceparent) =>
        decide(host, { ...job, traceparent }, abort),
      )
    : await decide(host, job, abort);
  const durationMs = performance.now() - startedAt;
  reportOutcome(host.log, identity, outcome, Math.round(durationMs));
  if (host.observers) {
    const ended = { outcome: outcome.outcome, code: codeOf(outcome), waitMs, durationMs };
    tellObservers(host.observers, { ...identity, ...ended }, host.log);
  }
  return outcome;
}

/** Runs the job, and says what is to become of it, whatever happens. */
function decide<Name extends QueueContract["name"], Data extends DataSchemas, Result extends ResultSchemas<Data>>(
  host: JobHost<Name, Data, Result>,
  job: StartedJob,
  abort: AbortSource | undefined,
): Promise<JobOutcome> {
  return runJob(host, job, abort).catch((thrown: unknown): JobOutcome => {
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
  });
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

async function runJob<Name extends QueueContract["name"], Data extends DataSchemas, Result extends ResultSchemas<Data>>(
  host: JobHost<Name, Data, Result>,
  job: StartedJob,
  abort: AbortSource | undefined,
): Promise<JobOutcome> {
  const parsed = parseJob(host.contract, host.handlers, job);
  const definition = host.contract.actions[parsed.action];
  const { workspaces } = host;
  const declared = definition.workspaceId?.(parsed.data);
  if (declared === undefined || !workspaces || host.contract.settings.isHousekeeping) {
    return claimAndRun(host, job, parsed, typeof declared === "string" ? declared : undefined, abort);
  }
  const workspaceId = typeof declared === "string" ? declared : await resolveWorkspaceId(workspaces, declared);
  const guarded = await withBlockedOwnerGuard(workspaces, workspaceId, () =>
    claimAndRun(host, job, parsed, workspaceId, abort),
  );
  return guarded.skipped ? { outcome: "skipped", code: guarded.code, message: guarded.message } : guarded.value;
}

// Generic in the action, so that schema, data and handler stay one action's.
async function claimAndRun<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
  Action extends keyof Data & string,
>(
  host: JobHost<Name, Data, Result>,
  job: StartedJob,
  { action, data, run, meta }: ParsedJob<Data, Action>,
  workspaceId: string | undefined,
  abort: AbortSource | undefined,
): Promise<JobOutcome> {
  const definition = host.contract.actions[action];
  const idempotencyKey = checkKey(definition.idempotencyKey?.(data), `${host.contract.name}/${action}`);
  const timeoutMs = run.timeoutMs ?? definition.timeout ?? defaultTimeoutMs;
  const runHandler = (onLateEnd?: (end: LateEnd<unknown>) => void) =>
    runWithDeadline(
      timeoutMs,
      abort,
      async (time) => {
        const context = createContext(host, job, { workspaceId, idempotencyKey, meta, time });
        const returned = await host.handlers[action](data, context);
        return toStoredResult(definition.result, returned, context);
      },
      onLateEnd,
    );
  if (idempotencyKey === undefined) return { outcome: "completed", result: await runHandler() };
  const lifetimeMs = definition.idempotencyLifetimeMs ?? defaultIdempotencyLifetimeMs;
  // Whoever fills in the data chooses the key: without its workspace, one tenant could take another's effect and read its result.
  const scope = workspaceId ?? definition.workspaceId?.(data);
  const effect: Effect = {
    key: JSON.stringify([host.contract.name, action, idempotencyKey, ...(scope === undefined ? [] : [scope])]),
    owner: `${host.contract.name}/${job.jobId}`,
    token: randomUUID(),
    start: job.replays * startsPerReplay + job.starts,
  };
  const onUnrecorded = (err: Error) =>
    host.log.error(
      { queue: host.contract.name, action, jobId: job.jobId, code: "effect_not_recorded", err },
      "the effect has happened and could not be recorded: another job with its idempotency key may repeat it",
    );
  return once(host.effects, effect, { leaseMs: timeoutMs + leaseMarginMs, lifetimeMs, onUnrecorded }, runHandler);
}

/** An empty key would be one effect for all jobs of the action: the first would run, and every other one be skipped. */
function checkKey(key: unknown, action: string): string | undefined {
  if (key === undefined || (typeof key === "string" && key !== "")) return key;
  throw new PermanentError(
    `The idempotencyKey of ${action}: expected a text that is not empty, or undefined, got ${key === "" ? "an empty text" : typeof key}.`,
    { code: "invalid_idempotency_key" },
  );
}
