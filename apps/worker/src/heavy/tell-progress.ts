import type { JobContext } from "@millrace/worker-host";

/** Says how far a job is. The figure is for people: a job does not fail, and does not wait, because it could not be written down. */
export function tellProgress(progress: JobContext["progress"], percent: number): void {
  progress(percent).catch(() => {});
}
