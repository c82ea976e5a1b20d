import { type Environment, parseEnv } from "@millrace/env";
import { z } from "zod";
import { defaultMaxBytes, defaultTtlMs, type FileStoreSettings } from "./file-store.ts";
import { parseFileStoreUrl } from "./location.ts";

const location = z
  .string({ error: "expected file:///absolute/folder or s3://bucket/prefix" })
  .transform((text, context) => {
    try {
      return parseFileStoreUrl(text);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : "expected a URL" });
      return z.NEVER;
    }
  });

export const fileStoreEnvSchema = z.object({
  FILE_STORE_URL: location,
  FILE_STORE_ACCESS_KEY_ID: z.string().optional(),
  FILE_STORE_SECRET_ACCESS_KEY: z.string().optional(),
  // S3 takes no more in one request.
  FILE_STORE_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1)
    .max(5 * 1_024 ** 3)
    .default(defaultMaxBytes),
  FILE_STORE_TTL_MS: z.coerce.number().int().min(1_000).default(defaultTtlMs),
});

const keysSchema = z.object({
  FILE_STORE_ACCESS_KEY_ID: z.string({ error: "expected the id of a key for the bucket of FILE_STORE_URL" }),
  FILE_STORE_SECRET_ACCESS_KEY: z.string({ error: "expected the secret of FILE_STORE_ACCESS_KEY_ID" }),
});

/**
 * What the environment says about the file store, for `createFileStore`. Keys are needed for a bucket, and ignored for a folder.
 *
 * @param source defaults to `process.env`
 * @throws EnvironmentError that names the variable
 */
export function readFileStoreSettings(source?: Environment): FileStoreSettings {
  const env = parseEnv(fileStoreEnvSchema, source);
  const limits = { maxBytes: env.FILE_STORE_MAX_BYTES, ttlMs: env.FILE_STORE_TTL_MS };
  if (env.FILE_STORE_URL.kind === "folder") return { ...limits, location: env.FILE_STORE_URL };
  const keys = parseEnv(keysSchema, source);
  const credentials = {
    accessKeyId: keys.FILE_STORE_ACCESS_KEY_ID,
    secretAccessKey: keys.FILE_STORE_SECRET_ACCESS_KEY,
  };
  return { ...limits, location: env.FILE_STORE_URL, credentials };
}
