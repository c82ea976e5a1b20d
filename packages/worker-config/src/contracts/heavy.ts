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
export const exampleDocumentFileId = "file_ffffffff-ffff-8000-8000-000000000002";

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
  /**
   * The text of a pdf, docx, xlsx, csv, html or text file, as a text file. Which it is, its content says. Pictures of text in it are not read:
   * that is `recognizeText`.
   */
  extractDocumentText: {
    ...longWork,
    data: z.object({ fileId: fileIdSchema, ...output, ...belonging }),
    result: z.object({
      file: fileReferenceSchema,
      format: z.enum(["pdf", "docx", "xlsx", "html", "csv", "text"]),
      pages: z.int().nullable().describe("Pages of a pdf, sheets of an xlsx; null: it has none."),
      characters: z.int(),
    }),
    example: { fileId: exampleDocumentFileId },
  },
  /** The text in a picture of text, as a text file. */
  recognizeText: {
    ...longWork,
    data: z.object({
      fileId: fileIdSchema,
      languages: z
        .array(
          z
            .string()
            .regex(/^[a-z]{3}(_[a-z]{3,4})*$/, "expected the code of a language's data, such as eng or chi_sim"),
        )
        .min(1)
        .max(3)
        .default(["eng"]),
      ...output,
      ...belonging,
    }),
    result: z.object({
      file: fileReferenceSchema,
      characters: z.int(),
      confidence: z.number().describe("How sure the recognition is, 0 to 100."),
    }),
    example: { fileId: exampleImageFileId },
  },
});

export const HeavyQueueJobAction = heavyContract.actionNames.enum;
export type HeavyQueueJobAction = JobAction<typeof heavyContract>;
export type HeavyQueueJobData = JobData<typeof heavyContract>;
