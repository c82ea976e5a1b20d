import { z } from "zod";
import type { JobFailure } from "./job-failure.ts";

/**
 * Why a job was acknowledged without having its effect, and what it answers all the same: the result that an earlier job with the same
 * idempotency key had.
 */
export interface JobSkip extends JobFailure {
  readonly result?: unknown;
}

const marker = "millrace:skipped";
const storedSkip = z.object({
  [marker]: z.object({ code: z.string(), message: z.string() }),
  result: z.unknown().optional(),
});

/** BullMQ knows no skipping: the job completes, and what it returns says that it was skipped. */
export function formatJobSkip({ code, message, result }: JobSkip): unknown {
  return { [marker]: { code, message }, ...(result !== undefined && { result }) };
}

/** Reads back what a completed job returned: a skip, or nothing when its handler ran. */
export function parseJobSkip(returned: unknown): JobSkip | undefined {
  const parsed = storedSkip.safeParse(returned);
  return parsed.success ? { ...parsed.data[marker], result: parsed.data.result } : undefined;
}
