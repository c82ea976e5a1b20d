export { type JobStatus, type JobStatusName, jobStatuses, toJobStatus } from "@millrace/worker-config/contracts";
export type { CancelledChildren } from "./cancel-flow.ts";
export { type Cancellation, type CancelOutcome, cancelJob } from "./cancel-job.ts";
export { cancelStuckParents } from "./cancel-stuck-parents.ts";
export type { DeadLetter } from "./dead-letter.ts";
export { type DeadLetterFilter, deadLetterFilterSchema } from "./dead-letter-filter.ts";
export { type DrainReport, drainQueue, drainReportSchema, drainRequestSchema } from "./drain-queue.ts";
export { findJob } from "./find-job.ts";
export { findJobWorkspace } from "./find-job-workspace.ts";
export { type JobAttempt, type JobDetails, jobDetailsSchema } from "./job-details.ts";
export { type JobFilter, jobFilterSchema, searchableFields } from "./job-filter.ts";
export { type JobRow, jobRowSchema } from "./job-row.ts";
export type { LetterGroup } from "./letter-groups.ts";
export { type DeadLetterList, deadLetterPageSchema, listDeadLetters } from "./list-dead-letters.ts";
export { type JobList, jobListSchema, jobPageSchema, listJobs } from "./list-jobs.ts";
export { listWorkers, type WorkerList, workerListSchema } from "./list-workers.ts";
export type { ParentEffect } from "./mark-cancelled.ts";
export {
  type PauseOutcome,
  pauseOutcomes,
  pauseQueue,
  type ResumeOutcome,
  resumeOutcomes,
  resumeQueue,
} from "./pause-queue.ts";
export { type PromoteOutcome, promoteJob, promoteOutcomes } from "./promote-job.ts";
export { type PurgeReport, purgeDeadLetters, purgeRequestSchema } from "./purge-dead-letters.ts";
export {
  discardQuarantined,
  listQuarantine,
  type QuarantinedJob,
  type QuarantineList,
  quarantinePageSchema,
} from "./quarantine.ts";
export type { QuarantineEntry } from "./quarantine-entry.ts";
export { type QuarantinedRecord, quarantinedRecordSchema, readQuarantined } from "./quarantined-record.ts";
export { readJob } from "./read-job.ts";
export { readJobData } from "./read-job-data.ts";
export { type QueueCounts, readQueueCounts } from "./read-queue-counts.ts";
export { readRedisMemory } from "./read-redis-memory.ts";
export { readStats } from "./read-stats.ts";
export { type RemoveOutcome, removeJob, removeOutcomes } from "./remove-job.ts";
export {
  type ReplayProgress,
  type ReplayReport,
  type ReplayRun,
  replayDeadLetter,
  replayDeadLetters,
  replayRequestSchema,
} from "./replay-dead-letters.ts";
export type { ReplayOutcome } from "./replay-letter.ts";
export { type QueueStats, queueStatsSchema, type Stats, statsSchema } from "./stats.ts";
export { sweepCompleted } from "./sweep-completed.ts";
export { sweepIndexes } from "./sweep-indexes.ts";
