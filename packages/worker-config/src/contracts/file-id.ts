import { z } from "zod";

/**
 * What a job carries instead of a file's bytes: `file_` and a UUID, as the file store answers it. Whoever holds one need not know what is in
 * it; `@millrace/file-store` opens it. Lower case alone: where a store's folder does not tell cases apart, one file has one id still.
 */
export const fileIdSchema = z
  .string()
  .regex(
    /^file_[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    "expected the id of a stored file: file_ and a UUID, as POST /files answers it",
  );
