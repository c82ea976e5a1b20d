import { z } from "zod";
import { fileIdSchema } from "./file-id.ts";

/** A stored file without its bytes: what an upload answers, and what a job may return. */
export const fileReferenceSchema = z
  .object({
    fileId: fileIdSchema,
    /** What its sender called it: to be shown, never to be used as a path. */
    name: z.string(),
    contentType: z.string(),
    bytes: z.int().min(0),
    sha256: z.string().describe("Of the content, in hex."),
    expiresAt: z.iso.datetime().nullable().describe("When it is gone; null: it stays until it is deleted."),
  })
  .meta({ id: "File" });

export type FileReference = z.infer<typeof fileReferenceSchema>;
