import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";

export interface Held {
  readonly url: string;
  readonly prefix: string;
  readonly name: string;
  readonly leaseMs: number;
}

const holders: ChildProcess[] = [];

/** Must be called once in a file that uses `startHolder`. */
export function cleanUpHolders(): void {
  afterEach(() => {
    for (const holder of holders.splice(0)) holder.kill("SIGKILL");
  });
}

/**
 * Starts a process that holds a lock or a place, and resolves when it does.
 *
 * @returns kills it with no chance to release anything, and resolves when it is gone
 */
export async function startHolder(what: "lock" | "semaphore", held: Held): Promise<() => Promise<void>> {
  const script = fileURLToPath(new URL("./hold-lease.ts", import.meta.url));
  const args = [what, held.url, held.prefix, held.name, String(held.leaseMs)];
  const holder = spawn(process.execPath, ["--conditions=millrace-source", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  holders.push(holder);
  await once(createInterface(holder.stdout), "line");
  return async () => {
    const gone = once(holder, "exit");
    holder.kill("SIGKILL");
    await gone;
  };
}
