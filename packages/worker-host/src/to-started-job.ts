import type { Job } from "bullmq";
import type { WriteNote } from "./note-writer.ts";
import type { Replay } from "./screened-worker.ts";
import type { StartedJob } from "./started-job.ts";

/** A start as BullMQ hands it over: `replay` is what its Job leaves out of the record. */
export function toStartedJob(
  job: Job<unknown, unknown, string>,
  jobId: string,
  replay: Replay,
  writeNote: WriteNote,
): StartedJob {
  return {
    jobId,
    action: job.name,
    data: job.data,
    createdAt: new Date(job.timestamp),
    runnableAt: Math.max(job.timestamp + (job.opts?.delay ?? 0), replay.at),
    attemptsMade: job.attemptsMade,
    attemptsAllowed: job.opts?.attempts ?? 1,
    starts: job.attemptsStarted,
    replays: replay.count,
    progress: (percent) => job.updateProgress(percent),
    note: (line) => writeNote(jobId, line),
  };
}
