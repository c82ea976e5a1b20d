export { type JobStatus, type JobStatusName, jobStatuses, toJobStatus } from "@millrace/worker-config/contracts";
export { type Cancellation, cancelJob } from "./cancel-job.ts";
export { findJob } from "./find-job.ts";
