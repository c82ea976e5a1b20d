import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createFileStore } from "@millrace/file-store";
import { createLogger } from "@millrace/logger";
import { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf, JobContext } from "@millrace/worker-host";
import { jobContext } from "@millrace/worker-host/testing";
import { afterAll, beforeAll } from "vitest";
import { findLanguages } from "../find-languages.ts";
import { type HeavyServices, heavyHandlers } from "../handlers.ts";
import { createRunProgram } from "../run-program.ts";
import { openTaskPool } from "../task-pool.ts";
import { openTaskProcesses } from "../task-processes.ts";
import type { HeavyTasks, ImageTasks } from "../tasks.ts";
import { createInWorkFolder } from "../work-folder.ts";

type Action = keyof typeof heavyContract.actions;
type Handlers = HandlersOf<typeof heavyContract>;
type Settings = Omit<HeavyServices, "inWorkFolder" | "runTask" | "runImageTask" | "runProgram">;

const defaults: Settings = {
  findLanguages,
  maxPixels: 4_000_000,
  maxInflatedBytes: 8_000_000,
  maxPages: 50,
  maxTextBytes: 2_000_000,
  maxOutputBytes: 4_000_000,
  maxAudioSeconds: 60,
  maxDocumentMs: 60_000,
};
const maxInputBytes = 4_000_000;

/** The heavy worker's handlers with a store and threads of the file's own. Known once its tests run. */
export function useHeavyWorker() {
  const pool = openTaskPool<HeavyTasks>({
    threadFile: new URL("../thread.ts", import.meta.url),
    threads: 1,
    memoryMb: 128,
    log: createLogger({ level: "silent" }),
  });
  const processes = openTaskProcesses<ImageTasks>({
    processFile: new URL("../image-process.ts", import.meta.url),
    memoryMb: 128,
  });
  let root = "";
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "millrace-heavy-test-"));
  });
  afterAll(async () => {
    await Promise.all([pool.close(), processes.close()]);
    await rm(root, { recursive: true });
  });
  const files = () => createFileStore({ location: { kind: "folder", folder: join(root, "files") } });

  return {
    files,
    /** Stores a file as a producer would, and says its id. */
    store: async (content: Uint8Array | string, name = "input.bin") => {
      const stored = await files().put(Buffer.from(content), { name, contentType: "application/octet-stream" });
      return stored.fileId;
    },
    read: async (fileId: string) => buffer((await files().open(fileId)).content),
    /** What jobs have left of their folders. */
    leftovers: async () => (await readdir(root)).filter((name) => name !== "files"),
    /** Runs an action on data as a producer writes it, checked as the host checks it. */
    run: async <Name extends Action>(
      action: Name,
      data: unknown,
      {
        settings,
        programPath = process.env.PATH ?? "",
        tempFolder = root,
        ...context
      }: Partial<JobContext> & {
        settings?: Partial<Settings>;
        programPath?: string;
        tempFolder?: string;
      } = {},
    ) => {
      const inWorkFolder = createInWorkFolder({ files: files(), parent: tempFolder, maxInputBytes });
      const handlers = heavyHandlers({
        inWorkFolder,
        runTask: pool.run,
        runProgram: createRunProgram(programPath),
        runImageTask: processes.run,
        ...defaults,
        ...settings,
      });
      // The action's own schema made the data, and nothing but the action's own handler gets it.
      const handler = handlers[action] as (data: unknown, context: JobContext) => ReturnType<Handlers[Name]>;
      const given = jobContext({ queue: "heavy", action, ...context });
      return handler(heavyContract.actions[action].data.parse(data), given);
    },
  };
}
