import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

export interface RedisOnPath {
  readonly name: "redis-server" | "valkey-server";
  readonly command: string;
}

/** The first server in the folders of `searchPath`, which is written as PATH is; a `redis-server` anywhere comes before a `valkey-server`. */
export function findRedisOnPath(searchPath: string): RedisOnPath | undefined {
  const folders = searchPath.split(delimiter).filter(Boolean);
  for (const name of ["redis-server", "valkey-server"] as const) {
    for (const folder of folders) {
      const command = join(folder, process.platform === "win32" ? `${name}.exe` : name);
      if (isExecutable(command)) return { name, command };
    }
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    // A folder passes for executable.
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
