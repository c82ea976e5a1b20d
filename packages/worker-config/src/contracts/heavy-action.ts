import { z } from "zod";
import { workspaceIdSchema } from "./workspace-id.ts";

const minute = 60_000;

/** Of every action: for whom it is, and how often its effect may happen. */
export const belonging = {
  workspaceId: workspaceIdSchema.optional(),
  idempotencyKey: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe(
      "One output for all jobs of this action and workspace that have it, within a day. Give it no ttlMs under a day: it answers with a file that is gone as well.",
    ),
};

/** Of what stands in a file or is its name: no control characters, and no half of a character, which no file can hold. */
export const oneLine = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, "expected one line of whole characters, without control characters");

/** Of every action that makes a file. */
export const output = {
  name: oneLine.max(255).optional().describe("What the made file is called. Defaults to a name made of the input's."),
  ttlMs: z
    .int()
    .min(1_000)
    .optional()
    .describe("How long the made file is kept. Defaults to the store's FILE_STORE_TTL_MS."),
};

/** Of every action: minutes of work that may begin anew, so that a deploy need not wait for it. */
export const longWork = {
  timeout: 5 * minute,
  interruptible: true,
  workspaceId: (data: { workspaceId?: string | undefined }) => data.workspaceId,
  idempotencyKey: (data: { idempotencyKey?: string | undefined }) => data.idempotencyKey,
  options: { attempts: 3 },
} as const;
