export { type JobStatus, type JobStatusName, jobStatuses, toJobStatus } from "@millrace/worker-config/contracts";
export type { CancelledChildren } from "./cancel-flow.ts";
export { type Cancellation, cancelJob } from "./cancel-job.ts";
export { cancelStuckParents } from "./cancel-stuck-parents.ts";
export type { DeadLetter } from "./dead-letter.ts";
export { type DeadLetterFilter, deadLetterFilterSchema } from "./dead-letter-filter.ts";
export { findJob } from "./find-job.ts";
export { findJobWorkspace } from "./find-job-workspace.ts";
export type { LetterGroup } from "./letter-groups.ts";
export { type DeadLetterList, deadLetterPageSchema, listDeadLetters } from "./list-dead-letters.ts";
export type { CancelOutcome, ParentEffect } from "./mark-cancelled.ts";
export { type PurgeReport, purgeDeadLetters, purgeRequestSchema } from "./purge-dead-letters.ts";
export {
  discardQuarantined,
  listQuarantine,
  type QuarantinedJob,
  type QuarantineList,
  quarantinePageSchema,
} from "./quarantine.ts";
export type { QuarantineEntry } from "./quarantine-entry.ts";
export { type QuarantinedRecord, readQuarantined } from "./quarantined-record.ts";
export {
  type ReplayProgress,
  type ReplayReport,
  type ReplayRun,
  replayDeadLetter,
  replayDeadLetters,
  replayRequestSchema,
} from "./replay-dead-letters.ts";
export type { ReplayOutcome } from "./replay-letter.ts";
export { sweepCompleted } from "./sweep-completed.ts";
