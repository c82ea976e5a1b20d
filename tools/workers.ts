import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("..", import.meta.url));

/** The workers there are: every folder of apps/worker/src with a worker.ts. Nothing else keeps a list of them. */
export function listWorkers(): string[] {
  const source = join(root, "apps/worker/src");
  return readdirSync(source)
    .filter((domain) => existsSync(join(source, domain, "worker.ts")))
    .sort();
}
