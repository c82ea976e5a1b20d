/**
 * Preloaded by the processes that are started one by one for development (`pnpm worker:email`): what a running `pnpm dev` published, then
 * .env. A variable that is set already stays as it is.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const published = join(resolve(root, process.env.DEV_STATE_DIR || ".millrace"), "dev.env");
if (existsSync(published) && isRunning(readFileSync(published, "utf8"))) process.loadEnvFile(published);
if (existsSync(join(root, ".env"))) process.loadEnvFile(join(root, ".env"));

/** A dev command that was killed leaves its file behind. */
function isRunning(text) {
  const pid = Number(/^# pid (\d+)$/m.exec(text)?.[1]);
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}
