import { z } from "zod";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";
import { fileIdSchema } from "./file-id.ts";
import { fileReferenceSchema } from "./file-reference.ts";
import { generateReport } from "./generate-report.ts";
import { belonging, longWork, output } from "./heavy-action.ts";
import { synthesizeSpeech } from "./synthesize-speech.ts";
import { transcodeAudio } from "./transcode-audio.ts";

/** What the examples work on: files that `pnpm dev` stores under these ids, for ever. */
export const exampleImageFileId = "file_ffffffff-ffff-8000-8000-000000000001";

// A side of more pixels is of no use to anybody, and no format but png and webp's successors holds it.
const side = z.int().min(1).max(16_383);

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
  /** A spreadsheet, a CSV or a PDF of rows. */
  generateReport,
  /** A sound in another format. Needs ffmpeg where the worker runs. */
  transcodeAudio,
  /** A text, read out. Needs espeak-ng where the worker runs. */
  synthesizeSpeech,
});

export const HeavyQueueJobAction = heavyContract.actionNames.enum;
export type HeavyQueueJobAction = JobAction<typeof heavyContract>;
export type HeavyQueueJobData = JobData<typeof heavyContract>;
