import { randomUUID } from "node:crypto";
import { missedPolicies, overlapPolicies, refinePolicies, type Schedule } from "@millrace/schedules";
import { cadenceShape, refineCadence, shortestGapMs, toCadence } from "@millrace/schedules/cadence";
import {
  contracts,
  InvalidJobError,
  prepareEnqueue,
  type QueueContract,
  queueNames,
  workspaceIdSchema,
} from "@millrace/worker-config";
import { z } from "zod";
import type { Problem } from "../problem.ts";

/** What tenants may ask for. */
export interface ScheduleLimits {
  /** The shortest time between two runs, in milliseconds. */
  readonly minIntervalMs: number;
  readonly maxPerWorkspace: number;
}

export const scheduleRequestSchema = z
  .strictObject({
    ...cadenceShape,
    workspaceId: workspaceIdSchema.describe(
      "Whose schedule it is. Nothing is added while its owner is blocked, or it is scheduled for deletion.",
    ),
    queue: queueNames,
    action: z.string(),
    data: z.unknown().describe("The action's data, as an enqueue takes it. It is the same at every run."),
    overlap: overlapPolicies.default("skip").describe("While the job of the last run has not ended: skip, or queue."),
    missed: missedPolicies
      .default("once")
      .describe(
        'Due times that nobody was there for: skip, once for all of them, or { "all": { "max", "withinMs" } } for the latest ones, which needs overlap queue.',
      ),
  })
  .superRefine(refineCadence)
  .superRefine(refinePolicies);

// Before 1970 zones had clocks of their own, and the runs after the latest one must be times that four digits of a year can say.
const isPreviewed = (from: string) => from >= "1970" && from < "9000";

/** A cadence that somebody tries out. */
export const previewSchema = z
  .strictObject({
    ...cadenceShape,
    count: z.int().min(1).max(100).default(5).describe("How many runs."),
    from: z.iso
      .datetime({ offset: true })
      .refine(isPreviewed, "expected a year from 1970 to 8999")
      .optional()
      .describe("Runs from this moment on, in a year from 1970 to 8999. Defaults to now."),
  })
  .superRefine(refineCadence);

type Issues = { path: string; message: string }[];

/** What is wrong with a request, every field that is at fault by its name. */
export function toProblem(what: string, errors: Issues): Problem {
  return { status: 400, title: "Invalid request", code: "invalid_request", detail: `${what} is not valid.`, errors };
}

export function toIssues(error: z.ZodError): Issues {
  return error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
}

/** Makes a workspace's schedule of a request, or says what is wrong with it. Without an id it is a new one. */
export function readScheduleRequest(
  body: unknown,
  limits: ScheduleLimits,
  id: string = randomUUID(),
): Schedule | Problem {
  const parsed = scheduleRequestSchema.safeParse(body);
  if (!parsed.success) return toProblem("The schedule", toIssues(parsed.error));
  const { cron, timeZone, everyMs, ...rest } = parsed.data;
  const cadence = toCadence({ cron, timeZone, everyMs });
  const schedule: Schedule = { id, cadence, ...rest };
  const errors = [...checkInterval(schedule, limits), ...checkTarget(schedule)];
  return errors.length > 0 ? toProblem("The schedule", errors) : schedule;
}

function checkInterval({ cadence }: Schedule, { minIntervalMs }: ScheduleLimits): Issues {
  const gapMs = shortestGapMs(cadence, Date.now());
  if (gapMs >= minIntervalMs) return [];
  const path = "cron" in cadence ? "cron" : "everyMs";
  const message = `expected at least ${minIntervalMs} ms between two runs (SCHEDULE_MIN_INTERVAL_MS), got ${gapMs}`;
  return [{ path, message }];
}

/** What an enqueue would refuse at every run is refused now. */
function checkTarget({ workspaceId, queue, action, data }: Schedule): Issues {
  const contract: QueueContract = contracts[queue];
  if (contract.settings.isHousekeeping) return [{ path: "queue", message: "expected a queue that serves tenants" }];
  try {
    prepareEnqueue(contract, action, data, {}, Date.now());
  } catch (error) {
    if (!(error instanceof InvalidJobError)) throw error;
    if (error.issues.length > 0) return [...error.issues];
    return [{ path: error.code === "unknown_action" ? "action" : "data", message: error.message }];
  }
  const definition = contract.actions[action];
  const named = definition?.workspaceId?.(definition.data.parse(data));
  // A webhook without a workspace goes to the house's own endpoints, which are not for a tenant to write to.
  if (named === undefined ? queue !== "webhook" : typeof named !== "string" || named === workspaceId) return [];
  return [{ path: "workspaceId", message: "expected the workspace that the job's data names" }];
}
