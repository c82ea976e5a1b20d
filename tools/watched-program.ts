import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { root } from "./workers.ts";

/** A program that runs from the sources and starts anew when they change. */
export interface WatchedProgram {
  readonly cwd: string;
  /** The arguments of node. None needs quotes: they are paths within the repository, relative to `cwd`. */
  readonly args: readonly string[];
}

/**
 * The API, or a worker by its domain. A worker starts anew for its own folder and for those that it imports from, not for another domain; each
 * program does for any package.
 */
export function watchedProgram(name: string): WatchedProgram {
  const isApi = name === "api";
  const cwd = join(root, isApi ? "apps/api" : "apps/worker");
  const own = isApi ? ["src"] : foldersOf(join(cwd, "src"), name).map((folder) => `src/${folder}`);
  const packages = globSync("packages/*/src", { cwd: root }).map((folder) => relative(cwd, join(root, folder)));
  // Folders, not the files that were loaded: a file that an editor replaces is another file, and its own watch is lost.
  const watched = [...own, ...packages].map((folder) => `--watch-path=${folder}`);
  const main = isApi ? "src/main.ts" : `src/${name}/worker.ts`;
  return { cwd, args: ["--conditions=millrace-source", "--watch", "--watch-preserve-output", ...watched, main] };
}

/**
 * The folder of a domain and, one after the other, those beside it that its files import from, or start a file of by its URL. A path that is put
 * together while the program runs is not seen.
 */
export function foldersOf(source: string, domain: string): string[] {
  const folders = new Set([domain]);
  for (const folder of folders) {
    for (const file of globSync(join(source, folder, "**/*.ts"))) {
      for (const [, path = ""] of readFileSync(file, "utf8").matchAll(
        /(?:from |import |import\(|new URL\()"(\.\.\/[^"]+)"/g,
      )) {
        const [imported = ""] = relative(source, resolve(dirname(file), path)).split(sep);
        if (imported !== "..") folders.add(imported);
      }
    }
  }
  return [...folders];
}
