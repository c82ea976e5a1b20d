/**
 * `duplicate`: the id or the dedupe key was taken, no further job was added, and `jobId` is the job that holds it. With dedupe mode `again`
 * the data is kept all the same and runs after that job.
 */
export interface Enqueued {
  readonly status: "created" | "duplicate";
  readonly jobId: string;
}
