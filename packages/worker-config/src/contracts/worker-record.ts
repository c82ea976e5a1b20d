import { z } from "zod";
import { queueNames } from "./queue-names.ts";

/** How often a worker says that it is there, and how long what it said holds, in milliseconds. A killed one is gone after that. */
export const workerRecordTimes = { everyMs: 5_000, expiresMs: 15_000 } as const;

/** What a worker process says of itself: one record per process and queue. */
export const workerRecordSchema = z
  .object({
    id: z.string().describe("New at every start."),
    queue: queueNames,
    host: z.string(),
    pid: z.int(),
    version: z.string().describe("WORKER_VERSION, else Millrace's own."),
    concurrency: z.int().describe("How many jobs it runs at once."),
    startedAt: z.iso.datetime(),
    jobCount: z.int().describe("How many it runs at this moment."),
    jobs: z
      .array(z.object({ jobId: z.string(), action: z.string(), since: z.iso.datetime() }))
      .describe("What it runs, 200 at most."),
  })
  .meta({ id: "Worker" });

export type WorkerRecord = z.infer<typeof workerRecordSchema>;
