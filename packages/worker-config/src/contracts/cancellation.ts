import { formatJobFailure } from "./job-failure.ts";

/** Where a cancelled job's id is told to the worker processes of its queue. */
export function cancelChannel(prefix: string, queue: string): string {
  return `${prefix}:${queue}:cancel`;
}

/** The reason that a cancelled job is stored with. */
export const cancelledReason: string = formatJobFailure({ code: "cancelled", message: "The job was cancelled." });
