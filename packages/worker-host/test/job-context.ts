import { randomUUID } from "node:crypto";
import { createLogger } from "@millrace/logger";
import type { JobContext } from "../src/job-context.ts";

/** What the host hands to a handler, for a test that calls one by itself: the first attempt of a job that nobody had before. */
export function jobContext({
  queue,
  action,
  ...overrides
}: Pick<JobContext, "queue" | "action"> & Partial<JobContext>): JobContext {
  return {
    queue,
    action,
    jobId: `job-${randomUUID()}`,
    createdAt: new Date(),
    attempt: 1,
    isFinalAttempt: false,
    idempotencyKey: undefined,
    workspaceId: undefined,
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    signal: new AbortController().signal,
    log: createLogger({ level: "silent" }),
    progress: async () => {},
    note: async () => {},
    enqueue: async () => ({ status: "created", jobId: "another" }),
    ...overrides,
  };
}
