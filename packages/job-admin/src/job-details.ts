import { jobStatuses, queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";

const moment = z.iso.datetime().nullable();
const reference = z.object({ queue: queueNames, jobId: z.string() });

const attemptSchema = z.object({
  attempt: z.int().describe("1 for the first."),
  outcome: z.enum(["running", "success", "skipped", "retry", "failed", "cancelled"]),
  startedAt: moment.describe("Known of the last one only."),
  endedAt: moment.describe("Known of the last one only, and only of a job that has ended."),
  code: z.string().nullable().describe("Known of the last failure only."),
  message: z.string().nullable().describe("Why it failed: the first line of its stack trace."),
});

/** A job's status with all that its record says of how it came to it. Without its payload. */
export const jobDetailsSchema = z
  .object({
    jobId: z.string(),
    queue: queueNames,
    action: z.string(),
    status: jobStatuses,
    attempts: z.int().describe("Attempts that ended so far."),
    attemptsAllowed: z.int(),
    attemptLog: z.array(attemptSchema).describe("The last ten of them, and the one that runs. A replay begins anew."),
    starts: z.int().describe("Times that a worker took it up; deferrals and hand-backs count as well."),
    progress: z.unknown().describe("In per cent, as its handler said last, 0 until then; 100 once it succeeded."),
    createdAt: z.iso.datetime(),
    dueAt: moment.describe("When it is due that waits for its time: delayed, deferred, or between two attempts."),
    runnableAt: z.iso.datetime().describe("When it could first run, or could again after its replay."),
    startedAt: moment.describe("Its last start."),
    finishedAt: moment,
    waitMs: z
      .number()
      .nullable()
      .describe("From when it could run to its start. Null of one that was started more than once."),
    runMs: z.number().nullable().describe("From its last start to its end."),
    priority: z.int().nullable().describe("Null: it runs before all that have one."),
    replays: z.int(),
    lastReplayedAt: moment,
    result: z.unknown(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    stack: z.string().nullable().describe("The last failure's stack trace."),
    logs: z.object({
      lines: z.array(z.string()).describe("The last hundred that its handler logged, each 2,000 characters at most."),
      total: z.int(),
    }),
    meta: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .describe("The labels that its enqueue gave it."),
    parent: reference.nullable().describe("In a flow, the job that waits for it."),
    children: z
      .object({
        open: z.int().describe("Have not ended."),
        succeeded: z.int(),
        failed: z.int(),
        openJobs: z.array(reference).describe("About a hundred of them."),
        failedJobs: z.array(reference).describe("A hundred of those that keep it from running."),
      })
      .nullable()
      .describe("In a flow, the jobs that it waits for."),
  })
  .meta({ id: "JobDetails" });

export type JobDetails = z.infer<typeof jobDetailsSchema>;
export type JobAttempt = z.infer<typeof attemptSchema>;
