import { access, constants } from "node:fs/promises";
import { createFileStore } from "@millrace/file-store";
import { startProgram } from "@millrace/shutdown";
import { heavyContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { readProgramPath, readSettings } from "./env.ts";
import { findLanguages } from "./find-languages.ts";
import { heavyHandlers } from "./handlers.ts";
import { createRunProgram } from "./run-program.ts";
import { openTaskPool } from "./task-pool.ts";
import { openTaskProcesses } from "./task-processes.ts";
import type { HeavyTasks, ImageTasks } from "./tasks.ts";
import { createInWorkFolder, removeLeftovers } from "./work-folder.ts";

const { settings, log } = startProgram("worker:heavy", readSettings);
const env = settings.heavy;
const concurrency = env.HEAVY_WORKER_CONCURRENCY;
const parent = env.HEAVY_TEMP_FOLDER;
const files = createFileStore(settings.files);
// Programs beside this one, as sources and in the build.
const ending = import.meta.url.endsWith(".ts") ? "ts" : "mjs";
const memoryMb = env.HEAVY_THREAD_MEMORY_MB;
const pool = openTaskPool<HeavyTasks>({
  threadFile: new URL(`./thread.${ending}`, import.meta.url),
  threads: concurrency,
  memoryMb,
  log,
});
const processes = openTaskProcesses<ImageTasks>({
  processFile: new URL(`./image-process.${ending}`, import.meta.url),
  memoryMb,
});
// Under the timeout of an attempt, which would be tried again; any document that is meant to be read takes seconds.
const maxDocumentMs = 120_000;
const handlers = heavyHandlers({
  inWorkFolder: createInWorkFolder({ files, parent, maxInputBytes: env.HEAVY_MAX_INPUT_BYTES }),
  runTask: pool.run,
  runImageTask: processes.run,
  findLanguages: (codes) => findLanguages(codes, env.HEAVY_OCR_DATA_FOLDER),
  maxPixels: env.HEAVY_MAX_PIXELS,
  maxOutputBytes: files.maxBytes,
  runProgram: createRunProgram(readProgramPath()),
  maxAudioSeconds: env.HEAVY_MAX_AUDIO_SECONDS,
  maxInflatedBytes: env.HEAVY_MAX_INFLATED_BYTES,
  maxPages: env.HEAVY_MAX_PAGES,
  maxTextBytes: files.maxBytes,
  maxDocumentMs,
});
await runWorker(
  heavyContract,
  handlers,
  {
    files,
    tempFolder: {
      start: () => removeLeftovers(parent),
      check: () => access(parent, constants.W_OK | constants.X_OK),
      close: async () => {},
    },
    languages: {
      start: async () => findLanguages([], env.HEAVY_OCR_DATA_FOLDER),
      check: async () => {},
      close: async () => {},
    },
    threads: { check: async () => {}, close: pool.close },
    processes: { check: async () => {}, close: processes.close },
  },
  { concurrency },
);
