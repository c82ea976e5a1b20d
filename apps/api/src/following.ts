import type { JobEventFeed } from "@millrace/job-events";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { sendProblem } from "./problem.ts";
import { whenOver } from "./response-end.ts";

/** What routes need that keep a request waiting for a job. */
export interface Following {
  readonly feed: JobEventFeed;
  /** Aborts when the server begins to close. */
  readonly closing: AbortSignal;
  readonly room: WaitingRoom;
}

/** Holds how many requests of this process wait for jobs at once. */
export interface WaitingRoom {
  /** Takes a place until the response is over. False: all are taken, and a problem was sent. */
  enter(reply: FastifyReply): boolean;
}

/** @param places defaults to 1,000: each costs memory, and a read of its job every five seconds */
export function createWaitingRoom(places = 1_000): WaitingRoom {
  let taken = 0;
  return {
    enter: (reply) => {
      if (taken >= places) {
        const detail = `In this process ${places} requests wait for jobs, as many as may. Nothing was done; ask again, or without waiting.`;
        reply.header("retry-after", "5");
        sendProblem(reply, { status: 503, title: "Too many waits", code: "too_many_waits", detail });
        return false;
      }
      taken += 1;
      whenOver(reply, () => {
        taken -= 1;
      });
      return true;
    },
  };
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

/** The `handlerTimeout` of a route that waits: the wait, and as long as any other request may take. */
export const waitTimeoutMs: number = longestWaitMs + 5_000;

/** Aborts when nobody is there any more to answer to. A request's own `signal` does so as soon as its body has been read. */
export function untilGone(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return AbortSignal.any([gone.signal, closing]);
}
