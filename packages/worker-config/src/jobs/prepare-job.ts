import type { JobsOptions } from "bullmq";
import type { z } from "zod";
import type { JobEnvelope } from "../contracts/job-envelope.ts";
import { enqueueOptionsSchema } from "../contracts/job-options.ts";
import { findJsonIssue } from "./check-json.ts";
import { InvalidJobError, toIssues } from "./invalid-job-error.ts";

export interface PreparedJob {
  readonly name: string;
  readonly data: JobEnvelope;
  readonly opts: JobsOptions;
  /** The `runAt` that was asked for, in milliseconds since 1970. The delay in `opts` is what is left until then by the clock given. */
  readonly runAtMs?: number;
}

/**
 * Turns an enqueue into a job as BullMQ's `add` takes it. The payload is stored as given, not as the schema puts it out: the worker
 * parses it again, with its own version of the schema.
 *
 * @param options not checked by the compiler where they come from outside
 * @param now the clock that `runAt` is measured against
 * @throws InvalidJobError with code `invalid_options`
 */
export function prepareJob(action: string, data: unknown, options: unknown, now: number = Date.now()): PreparedJob {
  const asked = parseOptions(options);
  const { timeoutMs, retryIntervalsMs, resultTtlMs, meta } = asked;
  const run = { timeoutMs, retryIntervalsMs, resultTtlMs };
  const envelope: JobEnvelope = {
    type: action,
    data,
    ...(Object.values(run).some((value) => value !== undefined) && { run }),
    ...(meta && { meta }),
  };
  return {
    name: action,
    data: envelope,
    opts: toJobsOptions(asked, now),
    ...(asked.runAt !== undefined && { runAtMs: Date.parse(asked.runAt) }),
  };
}

function parseOptions(options: unknown): z.output<typeof enqueueOptionsSchema> {
  // zod leaves a `__proto__` key out without a word.
  const jsonIssue = findJsonIssue(options, "options");
  const parsed = enqueueOptionsSchema.safeParse(options);
  if (parsed.success && !jsonIssue) return parsed.data;
  const issues = parsed.error ? toIssues(parsed.error, "options") : jsonIssue ? [jsonIssue] : [];
  throw new InvalidJobError("invalid_options", "The options of the job are not valid.", issues);
}

function toJobsOptions(asked: z.output<typeof enqueueOptionsSchema>, now: number): JobsOptions {
  const delay = asked.runAt === undefined ? asked.delayMs : Math.max(0, Date.parse(asked.runAt) - now);
  const attempts = asked.attempts ?? (asked.retryIntervalsMs && asked.retryIntervalsMs.length + 1);
  return {
    ...(delay !== undefined && { delay }),
    ...(asked.priority !== undefined && { priority: asked.priority }),
    ...(attempts !== undefined && { attempts }),
    ...(asked.jobId !== undefined && { jobId: asked.jobId }),
    ...(asked.dedupe && { deduplication: toDeduplication(asked.dedupe, delay) }),
  };
}

function toDeduplication(
  dedupe: NonNullable<z.output<typeof enqueueOptionsSchema>["dedupe"]>,
  delayMs: number | undefined,
): NonNullable<JobsOptions["deduplication"]> {
  const id = dedupe.key;
  switch (dedupe.mode) {
    case "drop":
      return { id, ...(dedupe.ttlMs !== undefined && { ttl: dedupe.ttlMs }) };
    case "latest":
      return { id, ttl: delayMs ?? 0, extend: true, replace: true };
    case "again":
      return { id, keepLastIfActive: true };
  }
}
