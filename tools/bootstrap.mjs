/**
 * What `npm run dev`, `npm test`, `npm run build` and their like run on a machine that has Node >= 20 and npm alone, and `pnpm dev`, `pnpm test`
 * and `pnpm build` as well: installs with the pinned pnpm where pnpm is not already at work, then hands over to the Node of the repository.
 *
 * Plain JavaScript, because it must run before anything is installed.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "./run-program.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const isWindows = process.platform === "win32";

const envFile = existsSync(join(root, ".env")) ? ["--env-file=.env"] : [];
const commands = {
  bench: ["--conditions=millrace-source", "tools/bench/main.ts"],
  dev: [...envFile, "--conditions=millrace-source", "tools/dev.ts"],
  start: [...envFile, "--conditions=millrace-source", "tools/start.ts"],
  chaos: [...envFile, "--conditions=millrace-source", "tools/chaos/main.ts"],
  test: ["node_modules/vitest/vitest.mjs", "run"],
  lint: ["node_modules/@biomejs/biome/bin/biome", "ci", "."],
  types: ["tools/turbo.mjs", "run", "typecheck"],
  build: ["tools/turbo.mjs", "run", "build"],
};
// They stop children of their own in order; the others hear a Ctrl-C from the terminal, with all that they started.
const supervising = ["bench", "dev", "start", "chaos"];

const [name, ...rest] = process.argv.slice(2);
const command = commands[name];
if (!command) {
  console.error(`tools/bootstrap.mjs: expected one of ${Object.keys(commands).join(", ")}, got ${name ?? "nothing"}.`);
  process.exit(2);
}

if (!process.env.npm_config_user_agent?.startsWith("pnpm/")) {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const code = await runProgram("npx", ["--yes", packageManager, "install"], { cwd: root, shell: isWindows });
  if (code !== 0) process.exit(code);
}
const detached = supervising.includes(name) && !isWindows;
process.exit(await runProgram(repositoryNode(), [...command, ...rest], { cwd: root, detached }));

/** The binary that the install brought, else this one if it is new enough. */
function repositoryNode() {
  const folder = join(root, "node_modules", `node-${isWindows ? "win" : process.platform}-${process.arch}`, "bin");
  const bundled = join(folder, isWindows ? "node.exe" : "node");
  if (existsSync(bundled)) return bundled;
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 24 || (major === 24 && minor >= 11)) return process.execPath;
  console.error(
    `Millrace needs Node 24.11 or newer, and brings none for ${process.platform}-${process.arch}. Got ${process.version}: install a newer Node and start again.`,
  );
  process.exit(1);
}
