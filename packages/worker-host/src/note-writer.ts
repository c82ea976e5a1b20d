import { createJobEventWriter } from "@millrace/job-events";
import type { Worker } from "bullmq";
import { mostNotes } from "./job-note.ts";

/** Keeps a line beside a job's record, where its details and dashboards read it, and tells it to those who follow the job. */
export type WriteNote = (jobId: string, line: string) => Promise<void>;

/** Over the worker's own connection, two commands a line. */
export function createNoteWriter(worker: Worker<unknown, unknown, string>, prefix: string): WriteNote {
  const backend = worker.getBackend();
  const events = createJobEventWriter({
    redis: {
      eval: async (script, keys, ...rest) => (await backend.client).runCommand("eval", [script, keys, ...rest]),
    },
    prefix,
  });
  return async (jobId, line) => {
    await Promise.all([
      backend.addLog(jobId, line, mostNotes),
      events.append(worker.name, jobId, { type: "log", data: { line } }),
    ]);
  };
}
