/** Runs turbo without its telemetry, on every platform alike, and with the pinned pnpm where none is at work: turbo starts every task by it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const turbo = ["turbo", ...process.argv.slice(2)];
const isInPnpm = process.env.npm_config_user_agent?.startsWith("pnpm/");
const [program, ...args] = isInPnpm ? turbo : ["npx", "--yes", readPackageManager(), "exec", ...turbo];

const { status } = spawnSync(program, args, {
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1" },
});
process.exit(status ?? 1);

function readPackageManager() {
  return JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8")).packageManager;
}
