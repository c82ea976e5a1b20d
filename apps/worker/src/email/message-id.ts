import type { JobContext } from "@millrace/worker-host";

type Job = Pick<JobContext, "jobId" | "createdAt">;

/**
 * A job's mail over all its attempts, as it is recorded. It says nothing of the sender: EMAIL_FROM may change between two attempts, and the mail
 * is the same. An id may be used anew once its job is gone, so that the time belongs to it.
 */
export function mailKeyOf({ jobId, createdAt }: Job): string {
  return `${jobId}.${createdAt.getTime()}`;
}

/** A mail's Message-ID: one per job over all its attempts, in the domain of its sender. */
export function messageIdOf(job: Job, sender: string): string {
  const domain = /@([\w.-]+)/.exec(sender)?.[1] ?? "localhost";
  return `<${mailKeyOf(job)}@${domain}>`;
}
