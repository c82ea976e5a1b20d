import type { JobEventFeed } from "@millrace/job-events";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { describeProblem } from "./problem.ts";
import type { WaitingRoom } from "./waiting-room.ts";

/** What routes need that keep a request waiting for a job. */
export interface Following {
  readonly feed: JobEventFeed;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
  readonly room: WaitingRoom;
}

const longestWaitMs = 30_000;

export const waitQuerySchema = z.object({
  waitMs: z.coerce
    .number()
    .int()
    .min(0)
    .max(longestWaitMs)
    .optional()
    .describe("Wait for the job to end, so many milliseconds at most; 202 says that it has not."),
});

/** What a route that waits may answer because others wait, for the documentation. */
export const tooManyWaits = describeProblem(
  "As many requests of this key, or of its workspace, follow jobs or wait for them as may at once.",
);

/** The `handlerTimeout` of a route that waits: the wait, and as long as any other request may take. */
export const waitTimeoutMs: number = longestWaitMs + 5_000;

/** Aborts when nobody is there any more to answer to. A request's own `signal` does so as soon as its body has been read. */
export function untilGone(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}
