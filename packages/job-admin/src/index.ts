export type { CancelledChildren } from "./cancel-flow.ts";
export { type Cancellation, cancelJob } from "./cancel-job.ts";
export { findJob } from "./find-job.ts";
export { type JobStatus, type JobStatusName, jobStatuses, toJobStatus } from "./job-status.ts";
export type { CancelOutcome, ParentEffect } from "./mark-cancelled.ts";
