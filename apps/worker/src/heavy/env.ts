import { tmpdir } from "node:os";
import { type Environment, parseEnv, readTogether } from "@millrace/env";
import { readFileStoreSettings } from "@millrace/file-store";
import { heavyContract } from "@millrace/worker-config/contracts";
import { workerReaders } from "@millrace/worker-host";
import { z } from "zod";

const mebibyte = 1_024 * 1_024;
const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

export const heavyEnvSchema = z.object({
  // Each job has a thread and a core of its own; for more there are more processes.
  HEAVY_WORKER_CONCURRENCY: whole(1, 2).default(2),
  HEAVY_THREAD_MEMORY_MB: whole(64, 16_384).default(512),
  HEAVY_MAX_INPUT_BYTES: whole(1, 5 * 1_024 * mebibyte).default(50 * mebibyte),
  HEAVY_MAX_PIXELS: whole(1, 1_000_000_000).default(50_000_000),
  HEAVY_MAX_AUDIO_SECONDS: whole(1, 86_400).default(7_200),
  HEAVY_MAX_INFLATED_BYTES: whole(1, 4 * 1_024 * mebibyte).default(200 * mebibyte),
  HEAVY_MAX_PAGES: whole(1, 100_000).default(2_000),
  HEAVY_OCR_DATA_FOLDER: z.string().optional(),
  HEAVY_TEMP_FOLDER: z.string().default(tmpdir),
});

export function readHeavyEnv(source?: Environment): z.output<typeof heavyEnvSchema> {
  return parseEnv(heavyEnvSchema, source);
}

/** Everything that this program reads. */
export function readSettings(source?: Environment) {
  return readTogether({ heavy: readHeavyEnv, files: readFileStoreSettings, ...workerReaders(heavyContract) }, source);
}

/** Where ffmpeg and espeak-ng are looked for: the machine's own variable, and none of ours. */
export function readProgramPath(): string {
  return process.env.PATH ?? "";
}
