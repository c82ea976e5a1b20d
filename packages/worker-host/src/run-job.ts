import { randomUUID } from "node:crypto";
import {
  type DataSchemas,
  defaultIdempotencyLifetimeMs,
  defaultTimeoutMs,
  type QueueContract,
  type ResultSchemas,
} from "@millrace/worker-config/contracts";
import { resolveWorkspaceId, type WorkspaceReference, withBlockedOwnerGuard } from "@millrace/workspaces";
import { createContext } from "./create-context.ts";
import type { Effect } from "./effect-store.ts";
import { PermanentError } from "./job-error.ts";
import type { JobHost, WorkspaceStandings } from "./job-host.ts";
import type { JobOutcome } from "./job-outcome.ts";
import { once } from "./once.ts";
import { type ParsedJob, parseJob } from "./parse-job.ts";
import { type AbortSource, type LateEnd, runWithDeadline } from "./run-with-deadline.ts";
import type { StartedJob } from "./started-job.ts";
import { toStoredResult } from "./stored-result.ts";

/** What is left of a claim when its attempt has ended at its deadline: time to record what happened. */
const leaseMarginMs = 15_000;

/** More than a job has starts before it is a dead letter: a start after a replay comes after all before it. */
const startsPerReplay = 1_000;

/**
 * The way of a job to its handler: parse → guard → claim → run. What every job goes through is no async function: each would cost a short job about as
 * much as its validation.
 *
 * @throws or rejects with whatever kept the job from its end: what its record, its workspace or its claim is at fault for, or what its handler threw
 */
export function runJob<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(host: JobHost<Name, Data, Result>, job: StartedJob, abort: AbortSource | undefined): Promise<JobOutcome> {
  const parsed = parseJob(host.contract, host.handlers, job);
  const definition = host.contract.actions[parsed.action];
  const { workspaces } = host;
  const declared = definition.workspaceId?.(parsed.data);
  if (declared === undefined || !workspaces || host.contract.settings.isHousekeeping) {
    return claimAndRun(host, job, parsed, typeof declared === "string" ? declared : undefined, abort);
  }
  return guardAndRun(workspaces, declared, (workspaceId) => claimAndRun(host, job, parsed, workspaceId, abort));
}

async function guardAndRun(
  workspaces: WorkspaceStandings,
  declared: string | WorkspaceReference,
  run: (workspaceId: string | undefined) => Promise<JobOutcome>,
): Promise<JobOutcome> {
  const workspaceId = typeof declared === "string" ? declared : await resolveWorkspaceId(workspaces, declared);
  const guarded = await withBlockedOwnerGuard(workspaces, workspaceId, () => run(workspaceId));
  return guarded.skipped ? { outcome: "skipped", code: guarded.code, message: guarded.message } : guarded.value;
}

// Generic in the action, so that schema, data and handler stay one action's.
function claimAndRun<
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
      (time) => {
        const context = createContext(host, job, { workspaceId, idempotencyKey, meta, time });
        // A handler that was written without types may return no promise.
        return Promise.resolve(host.handlers[action](data, context)).then((returned) =>
          toStoredResult(definition.result, returned, context),
        );
      },
      onLateEnd,
    );
  if (idempotencyKey === undefined) return runHandler().then(toCompleted);
  const lifetimeMs = definition.idempotencyLifetimeMs ?? defaultIdempotencyLifetimeMs;
  // Whoever fills in the data chooses the key: without its workspace, one tenant could take another's effect and read its result.
  const scope = workspaceId ?? definition.workspaceId?.(data);
  const effect: Effect = {
    key: JSON.stringify([host.contract.name, action, idempotencyKey, ...(scope === undefined ? [] : [scope])]),
    owner: `${host.contract.name}/${job.jobId}`,
    token: randomUUID(),
    start: job.replays * startsPerReplay + job.starts,
  };
  const identity = { queue: host.contract.name, action, jobId: job.jobId };
  const onUnrecorded = (err: Error) =>
    host.log.error(
      { ...identity, code: "effect_not_recorded", err },
      "the effect has happened and could not be recorded: another job with its idempotency key may repeat it",
    );
  const onRepeated = () =>
    host.log.error(
      { ...identity, code: "effect_repeated" },
      "the effect has happened, and another start with its idempotency key had begun meanwhile: it may have happened twice",
    );
  const terms = { leaseMs: timeoutMs + leaseMarginMs, lifetimeMs, onUnrecorded, onRepeated };
  return once(host.effects, effect, terms, runHandler);
}

function toCompleted(result: unknown): JobOutcome {
  return { outcome: "completed", result };
}

/** An empty key would be one effect for all jobs of the action: the first would run, and every other one be skipped. */
function checkKey(key: unknown, action: string): string | undefined {
  if (key === undefined || (typeof key === "string" && key !== "")) return key;
  throw new PermanentError(
    `The idempotencyKey of ${action}: expected a text that is not empty, or undefined, got ${key === "" ? "an empty text" : typeof key}.`,
    { code: "invalid_idempotency_key" },
  );
}
