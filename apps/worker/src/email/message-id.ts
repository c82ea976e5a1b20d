import type { JobContext } from "@millrace/worker-host";

/** A mail's Message-ID: one per job over all its attempts, in the domain of its sender. */
export function messageIdOf({ jobId, createdAt }: Pick<JobContext, "jobId" | "createdAt">, sender: string): string {
  const domain = /@([\w.-]+)/.exec(sender)?.[1] ?? "localhost";
  return `<${jobId}.${createdAt.getTime()}@${domain}>`;
}
