import { Readable } from "node:stream";
import { findJob } from "@millrace/job-admin";
import { isEventId, type JobNews } from "@millrace/job-events";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import type { Callers } from "../access/callers.ts";
import { type Following, tooManyWaits, untilGone } from "../following.ts";
import { describeProblem, describeResponse, problemResponses, sendUnknownJob, sendUnknownQueue } from "../problem.ts";

export interface EventStreamLimits {
  /** How long a reader may take none of what waits for it before its connection is cut, in milliseconds. */
  readonly slowReaderMs: number;
  /** How often its key is looked at again, in milliseconds. */
  readonly checkKeyEveryMs: number;
}

// A stream ends after this, and its reader comes back by itself.
const longestStreamMs = 60 * 60_000;
/** The id of the last event. A browser's EventSource comes back with it, and learns that there is nothing more. */
const endId = "end";

/** `GET /jobs/:queue/:jobId/events`: a job as server-sent events, https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export function eventRoutes(
  app: FastifyInstance,
  { feed, closing, room }: Following,
  callers: Pick<Callers, "withId">,
  { slowReaderMs, checkKeyEveryMs }: EventStreamLimits = { slowReaderMs: 30_000, checkKeyEveryMs: 5_000 },
): void {
  /** While Redis does not say otherwise. */
  const isInForce = (keyId: string) =>
    callers.withId(keyId).then(
      (caller) => caller !== undefined,
      () => true,
    );

  /**
   * One chunk after the other, as the reader takes them: one that takes none for too long is cut off. It ends when the key does; the news come
   * every few seconds at least.
   */
  async function* write(
    news: AsyncIterable<JobNews>,
    keyId: string,
    reply: FastifyReply,
  ): AsyncGenerator<string, void> {
    let slow: NodeJS.Timeout | undefined;
    let checkedAt = performance.now();
    try {
      for await (const item of news) {
        if (performance.now() - checkedAt >= checkKeyEveryMs) {
          if (!(await isInForce(keyId))) return;
          checkedAt = performance.now();
        }
        slow = setTimeout(() => reply.raw.destroy(), slowReaderMs);
        yield toText(item);
        clearTimeout(slow);
      }
    } finally {
      clearTimeout(slow);
    }
  }

  app.get<{ Params: { queue: string; jobId: string }; Headers: { "last-event-id"?: string } }>(
    "/jobs/:queue/:jobId/events",
    {
      config: { access: "any", workspace: "job" },
      exposeHeadRoute: false,
      handlerTimeout: longestStreamMs + 60_000,
      schema: {
        tags: ["jobs"],
        summary: "Follow a job",
        description: [
          "Server-sent events. `status`: the job as it stands, first and whenever it has changed. `gap`: events went before they could be",
          "sent; `missed` is how many, or null. `end`: the job at its end, or null where it was removed; the stream ends by itself.",
          "Every other name is the type of an event of the job's own, such as `token` or `log`; its data is JSON as well.",
        ].join(" "),
        params: z.object({ queue: z.string(), jobId: z.string() }),
        headers: z.object({
          "last-event-id": z
            .string()
            .refine((id) => id === endId || isEventId(id), "expected the id of an event that this stream has sent")
            .optional()
            .describe("Go on after this event."),
        }),
        response: {
          200: describeResponse("The stream.", z.string(), "text/event-stream"),
          204: z.null().describe("Last-Event-ID is that of the end: there is nothing more."),
          ...problemResponses,
          429: tooManyWaits,
          503: describeProblem("Redis does not answer, or too many requests wait for jobs here."),
        },
      },
    },
    async (request, reply) => {
      const { access, params, headers } = request;
      const { queue, jobId } = params;
      const after = headers["last-event-id"];
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      if (after === endId) return reply.status(204).send();
      if (!(await findJob(name.data, jobId))) return sendUnknownJob(reply, queue);
      if (!room.enter(request, reply)) return reply;
      const signal = AbortSignal.any([untilGone(reply, closing), AbortSignal.timeout(longestStreamMs)]);
      return reply
        .header("content-type", "text/event-stream; charset=utf-8")
        .header("cache-control", "no-store")
        .header("connection", "close")
        .header("x-accel-buffering", "no")
        .send(Readable.from(write(feed.follow(name.data, jobId, { after, signal }), access.keyId, reply)));
    },
  );
}

function toText(item: JobNews): string {
  switch (item.kind) {
    case "status":
      return toEvent("status", JSON.stringify(item.job));
    case "event":
      return toEvent(item.type, item.json, item.id);
    case "gap":
      return toEvent("gap", JSON.stringify({ missed: item.missed }));
    case "idle":
      return ": still here\n\n";
    case "end":
      return toEvent("end", JSON.stringify(item.job), endId);
  }
}

/** JSON holds no line break, so that one line of data is enough. */
function toEvent(name: string, json: string, id?: string): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`;
}
