import { fork } from "node:child_process";
import { once } from "node:events";
import type { CancelOutcome } from "@millrace/job-admin";
import type { ProducerMessage } from "./producer-process.ts";

/** What the producer was told of a job. */
export interface Acknowledgement {
  readonly status: "created" | "duplicate";
  readonly refusals: number;
  readonly mayHaveHappened: boolean;
  cancellation?: CancelOutcome;
}

export interface Producer {
  readonly acknowledgements: ReadonlyMap<string, Acknowledgement>;
  /** Resolves when every job was acknowledged. Rejects when the process ends before. */
  readonly done: Promise<void>;
  kill(): void;
}

/** Starts the process that enqueues the plan made of these three numbers. */
export function startProducer(
  { seed, jobs, seconds }: { readonly seed: number; readonly jobs: number; readonly seconds: number },
  env: NodeJS.ProcessEnv,
): Producer {
  const acknowledgements = new Map<string, Acknowledgement>();
  const child = fork(new URL("./producer-process.ts", import.meta.url), [seed, jobs, seconds].map(String), {
    // Outages are what this is about; each would be a warning.
    execArgv: ["--conditions=millrace-source", "--disable-warning=MILLRACE_REDIS"],
    env,
    detached: true,
  });
  const finished = Promise.withResolvers<void>();
  child.on("message", (message: ProducerMessage) => {
    switch (message.kind) {
      case "acknowledged": {
        const { kind: _, jobId, ...acknowledgement } = message;
        acknowledgements.set(jobId, acknowledgement);
        break;
      }
      case "cancelled": {
        const acknowledgement = acknowledgements.get(message.jobId);
        if (acknowledgement) acknowledgement.cancellation = message.cancellation;
        break;
      }
      case "done":
        finished.resolve();
    }
  });
  const ended = once(child, "exit").then(([code, signal]) => {
    throw new Error(`The producer ended by itself, with ${signal ?? `code ${code}`}.`);
  });
  return {
    acknowledgements,
    done: Promise.race([finished.promise, ended]),
    kill: () => child.kill("SIGKILL"),
  };
}
