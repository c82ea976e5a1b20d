import { cp, mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNode } from "./run-node.ts";

const packageDir = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(import.meta.url);

/** The path of a program of an installed package, `bin` as its package.json has it. */
export const programOf = (name: string, bin: string) => join(dirname(require.resolve(`${name}/package.json`)), bin);

/**
 * Builds the package and lays it out in a temporary folder as an app would have it installed.
 *
 * @returns the app's folder, in which `@millrace/worker-config` resolves, and beside it only what `install` names
 */
export async function buildPackage(): Promise<{
  layOut(install: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}> {
  // Its real path, because loaded modules are known by theirs.
  const root = await realpath(await mkdtemp(join(tmpdir(), "millrace-built-")));
  const dist = join(root, "dist");
  const built = await runNode([programOf("tsdown", "dist/run.mjs"), "--out-dir", dist], packageDir);
  if (built.code !== 0) throw new Error(`tsdown ended with ${built.code}: ${built.stdout}${built.stderr}`);
  let apps = 0;
  return {
    layOut: async (install) => {
      const app = join(root, `app-${++apps}`);
      const installed = join(app, "node_modules/@millrace/worker-config");
      await mkdir(installed, { recursive: true });
      await cp(join(packageDir, "package.json"), join(installed, "package.json"));
      await cp(dist, join(installed, "dist"), { recursive: true });
      for (const name of install) {
        await symlink(await realpath(join(packageDir, "node_modules", name)), join(app, "node_modules", name), "dir");
      }
      return app;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
