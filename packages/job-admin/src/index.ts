export { findJob } from "./find-job.ts";
export { type JobStatus, type JobStatusName, jobStatuses, toJobStatus } from "./job-status.ts";
