import { z } from "zod";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";
import { fileIdSchema } from "./file-id.ts";
import { fileReferenceSchema } from "./file-reference.ts";
import { workspaceIdSchema } from "./workspace-id.ts";

/** What the examples work on: files that `pnpm dev` stores under these ids, for ever. */
export const exampleImageFileId = "file_ffffffff-ffff-8000-8000-000000000001";

const minute = 60_000;
// A side of more pixels is of no use to anybody, and no format but png and webp's successors holds it.
const side = z.int().min(1).max(16_383);

/** Of every action: for whom it is, and how often its effect may happen. */
const belonging = {
  workspaceId: workspaceIdSchema.optional(),
  idempotencyKey: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .describe("One output for all jobs of this action and workspace that have it, within a day."),
};

/** Of every action that makes a file. */
const output = {
  name: z
    .string()
    .regex(/^\P{Cc}{1,255}$/u, "expected one line of 1 to 255 characters")
    .optional()
    .describe("What the made file is called. Defaults to a name made of the input's."),
  ttlMs: z
    .int()
    .min(1_000)
    .optional()
    .describe("How long the made file is kept. Defaults to the store's FILE_STORE_TTL_MS."),
};

function effectKey(data: {
  workspaceId?: string | undefined;
  idempotencyKey?: string | undefined;
}): string | undefined {
  return data.idempotencyKey === undefined ? undefined : `${data.workspaceId ?? ""}/${data.idempotencyKey}`;
}

/** Of every action: minutes of work that may begin anew, so that a deploy need not wait for it. */
const longWork = {
  timeout: 5 * minute,
  interruptible: true,
  workspaceId: (data: { workspaceId?: string | undefined }) => data.workspaceId,
  idempotencyKey: effectKey,
  options: { attempts: 3 },
} as const;

export const heavyContract = defineQueue("heavy", {
  /** An image in another size or format: upright as its camera held it, and without metadata unless they are asked for. */
  transformImage: {
    ...longWork,
    data: z
      .object({
        fileId: fileIdSchema,
        format: z
          .enum(["jpeg", "png", "webp", "avif"])
          .optional()
          .describe("Defaults to the input's own, or png where that cannot be written."),
        width: side.optional(),
        height: side.optional(),
        fit: z
          .enum(["inside", "outside", "cover", "contain", "fill"])
          .default("inside")
          .describe(
            "How it fits where both sides are given, as CSS object-fit; inside and outside keep everything and no edge.",
          ),
        allowEnlargement: z.boolean().default(false),
        quality: z.int().min(1).max(100).optional().describe("Of jpeg, webp and avif. Defaults to the format's own."),
        keepMetadata: z.boolean().default(false).describe("Where it was taken and with what stays in the file."),
        animated: z.boolean().default(false).describe("All frames instead of the first; into webp alone."),
        ...output,
        ...belonging,
      })
      .refine(({ animated, format }) => !animated || format === "webp", {
        path: ["format"],
        message: "expected webp for an animated image",
      }),
    result: z.object({
      file: fileReferenceSchema,
      width: z.int(),
      height: z.int(),
      frames: z.int(),
    }),
    example: { fileId: exampleImageFileId, format: "webp", width: 320 },
  },
});

export const HeavyQueueJobAction = heavyContract.actionNames.enum;
export type HeavyQueueJobAction = JobAction<typeof heavyContract>;
export type HeavyQueueJobData = JobData<typeof heavyContract>;
