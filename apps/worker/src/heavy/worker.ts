import { access, constants } from "node:fs/promises";
import { createFileStore, readFileStoreSettings } from "@millrace/file-store";
import { getChildLogger } from "@millrace/logger";
import { heavyContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { readHeavyEnv } from "./env.ts";
import { heavyHandlers } from "./handlers.ts";
import { openTaskPool } from "./task-pool.ts";
import type { HeavyTasks } from "./tasks.ts";
import { createInWorkFolder, removeLeftovers } from "./work-folder.ts";

const env = readHeavyEnv();
const concurrency = env.HEAVY_WORKER_CONCURRENCY;
const parent = env.HEAVY_TEMP_FOLDER;
const files = createFileStore(readFileStoreSettings());
const pool = openTaskPool<HeavyTasks>({
  // Beside this file, as a source and in the build.
  threadFile: new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.mjs", import.meta.url),
  threads: concurrency,
  memoryMb: env.HEAVY_THREAD_MEMORY_MB,
  log: getChildLogger("worker:heavy"),
});
const handlers = heavyHandlers({
  inWorkFolder: createInWorkFolder({ files, parent, maxInputBytes: env.HEAVY_MAX_INPUT_BYTES }),
  runTask: pool.run,
  maxPixels: env.HEAVY_MAX_PIXELS,
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
    threads: { check: async () => {}, close: pool.close },
  },
  { concurrency },
);
