export { type Cancellation, cancelJob } from "./cancel-job.ts";
export { findJob } from "./find-job.ts";
export { type JobStatus, type JobStatusName, jobStatuses, toJobStatus } from "./job-status.ts";
