/** Runs turbo without its telemetry, on every platform alike. */
import { spawnSync } from "node:child_process";

const { status } = spawnSync("turbo", process.argv.slice(2), {
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1" },
});
process.exit(status ?? 1);
