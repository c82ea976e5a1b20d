import { mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileStoreSettings } from "../src/index.ts";
import { startS3Server } from "./s3-server.ts";

/** A place for files, seen from behind: what no user of a store can see or do. */
export interface Place {
  readonly settings: FileStoreSettings;
  /** The names of everything in it. */
  contents(): Promise<string[]>;
  /** Spoils a file that is there. */
  damage(fileId: string): Promise<void>;
  /** The store can no longer be reached. */
  breakDown(): Promise<void>;
  remove(): Promise<void>;
}

export const kinds: Record<string, () => Promise<Place>> = {
  "a folder": async () => {
    const parent = await mkdtemp(join(tmpdir(), "millrace-files-"));
    const folder = join(parent, "files");
    return {
      settings: { location: { kind: "folder", folder } },
      contents: () => readdir(folder).catch(() => []),
      damage: (fileId) => truncate(join(folder, fileId), 3),
      breakDown: async () => {
        await rm(folder, { recursive: true, force: true });
        await writeFile(folder, "");
      },
      remove: () => rm(parent, { recursive: true, force: true }),
    };
  },
  "a bucket": async () => {
    const server = await startS3Server();
    return {
      settings: server.settings,
      contents: async () => [...server.objects.keys()].map((key) => key.replace("uploads/", "")),
      damage: async (fileId) => {
        server.objects.set(`uploads/${fileId}`, { body: Buffer.from("abc"), metadata: undefined });
      },
      breakDown: async () => {
        await server.stop();
      },
      remove: () => server.stop().catch(() => {}),
    };
  },
};
