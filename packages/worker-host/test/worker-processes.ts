import { fork } from "node:child_process";
import { once } from "node:events";
import { afterEach, vi } from "vitest";

/** A worker process that a test may kill. */
export interface WorkerProcess {
  /** The signal that ended it, or null when it ended by itself. It may be over before anybody waits for it. */
  readonly exited: Promise<NodeJS.Signals | null>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process has said this, before or after the call: `ready`, or the id of a job that it runs. */
  untilSaid(message: string): Promise<void>;
}

/** Starts worker processes of `worker-process.ts`, which end with the test. */
export function useWorkerProcesses(): (lockDurationMs?: number) => WorkerProcess {
  const running: WorkerProcess[] = [];
  afterEach(async () => {
    for (const process of running.splice(0)) {
      process.kill("SIGKILL");
      await process.exited;
    }
  });
  return (lockDurationMs = 1_000) => {
    const child = fork(new URL("./worker-process.ts", import.meta.url), [String(lockDurationMs)], {
      execArgv: ["--conditions=millrace-source"],
    });
    const said = new Set<unknown>();
    child.on("message", (message) => said.add(message));
    const started: WorkerProcess = {
      exited: once(child, "exit").then(([, signal]) => signal),
      kill: (signal) => child.kill(signal),
      untilSaid: (message) =>
        vi.waitFor(
          () => {
            if (!said.has(message)) throw new Error(`The worker process has not said ${message}.`);
          },
          { timeout: 25_000, interval: 10 },
        ),
    };
    running.push(started);
    return started;
  };
}
