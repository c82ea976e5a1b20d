import type { Logger } from "@millrace/logger";
import type { enqueue } from "@millrace/worker-config";
import { defineQueue, type JobStatus } from "@millrace/worker-config/contracts";
import { expect, vi } from "vitest";
import { z } from "zod";
import type { HandlersOf } from "../../src/job-handlers.ts";
import type { WorkspaceStandings } from "../../src/job-host.ts";

export const data = z.object({ text: z.string(), workspaceId: z.string().optional() });
const result = z.object({ echo: z.string() });

/** What the cases run. */
export const contract = defineQueue("default", {
  run: { data, result, timeout: 10_000, workspaceId: ({ workspaceId }) => workspaceId },
  keyed: {
    data,
    result,
    timeout: 10_000,
    workspaceId: ({ workspaceId }) => workspaceId,
    idempotencyKey: ({ text }) => (text === "no key" ? undefined : text),
  },
});

export interface StartOptions {
  /** The same actions under other settings. */
  readonly contract?: typeof contract;
  readonly concurrency?: number;
  readonly workspaces?: WorkspaceStandings;
  readonly log?: Logger;
}

/** A host with its queue, as whoever uses it sees it. Each test has a fresh one. */
export interface Engine {
  readonly name: "Redis" | "memory";
  /** Begins to take jobs. An action without a handler here does nothing. */
  start(handlers: Partial<HandlersOf<typeof contract>>, options?: StartOptions): Promise<void>;
  readonly enqueue: typeof enqueue;
  findJob(jobId: string): Promise<JobStatus | undefined>;
  readNotes(jobId: string): Promise<readonly string[]>;
  cancelJob(jobId: string): Promise<string>;
  replayDeadLetter(jobId: string): Promise<string>;
  stop(graceMs: number): Promise<void>;
}

export const idle: HandlersOf<typeof contract> = {
  run: async () => ({ echo: "" }),
  keyed: async () => ({ echo: "" }),
};

const ends: readonly unknown[] = ["success", "failed", "cancelled", "skipped"];

/** Waits for a job's end and returns its status then. */
export async function untilEnded(engine: Engine, jobId: string): Promise<JobStatus> {
  return untilStatus(engine, jobId, ends);
}

export async function untilStatus(engine: Engine, jobId: string, wanted: readonly unknown[]): Promise<JobStatus> {
  return vi.waitFor(
    async () => {
      const status = await engine.findJob(jobId);
      expect(wanted).toContain(status?.status);
      if (!status) throw new Error(`job ${jobId} is gone`);
      return status;
    },
    { interval: 10, timeout: 10_000 },
  );
}

/** A handler that says when it has started and goes on when it is told to. */
export function createGate() {
  const started = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const pass = async () => {
    started.resolve();
    await opened.promise;
    return { echo: "passed" };
  };
  return { started: started.promise, open: opened.resolve, pass };
}
