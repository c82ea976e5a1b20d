import { queueNames } from "@millrace/worker-config/contracts";
import { z } from "zod";
import type { DeadLetterRow } from "./dead-letter.ts";

const names = z.array(z.string().min(1).max(200)).min(1).max(100);

/** Which dead letters: every field that is given must fit. One schema for functions, API and command line. */
export const deadLetterFilterSchema = z.strictObject({
  queues: z.array(queueNames).min(1).optional().describe("In these queues. Defaults to all."),
  actions: names.optional().describe("Of these actions."),
  codes: names
    .optional()
    .describe("With one of these codes. Cancelled jobs are no dead letters, unless `cancelled` is named here."),
  olderThanMs: z.int().nonnegative().optional().describe("Failed at least so many milliseconds ago."),
  newerThanMs: z.int().positive().optional().describe("Failed at most so many milliseconds ago."),
  text: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("With this text in the failure's message or in the job's id; upper and lower case are one."),
});

export type DeadLetterFilter = z.infer<typeof deadLetterFilterSchema>;

/** What a filter asks of a letter beyond its queue and its age, which decide where to look. */
export function fitsFilter(
  { actions, codes, text }: DeadLetterFilter,
  { jobId, action, code, message }: Pick<DeadLetterRow, "jobId" | "action" | "code" | "message">,
): boolean {
  if (codes && !codes.includes(code)) return false;
  if (actions && (action === null || !actions.includes(action))) return false;
  if (text === undefined) return true;
  const sought = text.toLowerCase();
  return message.toLowerCase().includes(sought) || jobId.toLowerCase().includes(sought);
}
