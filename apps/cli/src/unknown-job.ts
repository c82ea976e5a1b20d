import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";

export function unknownJob(queue: string, jobId: string): CliError {
  return new CliError(
    exitCodes.notFound,
    "unknown_job",
    `Queue ${queue} holds no job ${jobId}. It never was, or it is kept no longer; QUEUE_PREFIX decides where to look.`,
  );
}

/** @throws CliError where there is none */
export function requireFound<Job>(job: Job | undefined, queue: string, jobId: string): Job {
  if (job === undefined) throw unknownJob(queue, jobId);
  return job;
}
