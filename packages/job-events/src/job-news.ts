import type { JobStatus } from "@millrace/worker-config/contracts";

/**
 * What a follower of a job hears, in this order:
 * - `status`: the job as it stands, first of all and whenever it has changed, progress included.
 * - `event`: what the job said, see `JobEventWriter`. `id` is where to go on from.
 * - `gap`: events went before the follower came to them. `missed` is how many, or null where nobody can say.
 * - `idle`: nothing new for as long as the poll takes, however often something woke the follower meanwhile.
 * - `end`: the job has come to its end, and nothing follows. `job` is null where its record was removed.
 */
export type JobNews =
  | { readonly kind: "status"; readonly job: JobStatus }
  | { readonly kind: "event"; readonly id: string; readonly type: string; readonly json: string }
  | { readonly kind: "gap"; readonly missed: number | null }
  | { readonly kind: "idle" }
  | { readonly kind: "end"; readonly job: JobStatus | null };
