import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where a running dev command leaves its environment for the commands beside it. `stateDir` is DEV_STATE_DIR, absolute. */
export function publishedEnvFile(stateDir: string): string {
  return join(stateDir, "dev.env");
}

/**
 * Who has published the file and still runs. A dev command that was killed leaves its file behind.
 *
 * @returns its process id
 */
export function runningPublisher(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const pid = Number(/^# pid (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1]);
  try {
    return pid > 0 && process.kill(pid, 0) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Publishes this process's environment, unless another one that runs has published its own: what was started beside that stays with it.
 *
 * @returns whose environment lies there now, and what takes this process's away
 */
export function publishEnv(
  stateDir: string,
  env: Readonly<Record<string, string>>,
): { readonly publisher: number; withdraw(): Promise<void> } {
  const file = publishedEnvFile(stateDir);
  const publisher = runningPublisher(file);
  // In a container a command that was killed may have had this very process's id.
  if (publisher !== undefined && publisher !== process.pid) return { publisher, withdraw: async () => {} };
  mkdirSync(stateDir, { recursive: true });
  const lines = [`# pid ${process.pid}`, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  return {
    publisher: process.pid,
    withdraw: async () => {
      // One that started in the same moment may have published its own over it.
      if (runningPublisher(file) === process.pid) rmSync(file, { force: true });
    },
  };
}
