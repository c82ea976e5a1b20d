import {
  drainQueue,
  drainReportSchema,
  drainRequestSchema,
  pauseOutcomes,
  pauseQueue,
  resumeOutcomes,
  resumeQueue,
} from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { noteRun } from "../access/audit.ts";
import { type Following, untilGone } from "../following.ts";
import { describeResponse, problemResponses, sendUnknownQueue } from "../problem.ts";

const tags = ["queues"];
const params = z.object({ queue: z.string() });
// What is not removed by then is left, and the report says so.
const longestDrainMs = 25_000;

/** `/queues/:queue`: what an operator does to a queue as a whole. */
export function queueRoutes(app: FastifyInstance, { closing }: Pick<Following, "closing">): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    "/queues/:queue/pause",
    {
      config: { access: "operator", audit: "queue.pause" },
      schema: {
        tags,
        summary: "Start no further job of a queue",
        description: "What runs goes on; what is added waits.",
        params,
        response: {
          200: describeResponse(
            "No worker starts a job of it.",
            z.object({ queue: queueNames, outcome: pauseOutcomes }),
          ),
          ...problemResponses,
        },
      },
    },
    async ({ params: { queue } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      return reply.status(200).send({ queue: name.data, outcome: await pauseQueue(name.data) });
    },
  );

  typed.post(
    "/queues/:queue/resume",
    {
      config: { access: "operator", audit: "queue.resume" },
      schema: {
        tags,
        summary: "Go on with a queue that was paused",
        params,
        response: {
          200: describeResponse("Its jobs run.", z.object({ queue: queueNames, outcome: resumeOutcomes })),
          ...problemResponses,
        },
      },
    },
    async ({ params: { queue } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      return reply.status(200).send({ queue: name.data, outcome: await resumeQueue(name.data) });
    },
  );

  typed.post(
    "/queues/:queue/drain",
    {
      config: { access: "admin", audit: "queue.drain" },
      handlerTimeout: longestDrainMs + 10_000,
      schema: {
        tags,
        summary: "Remove for good what waits in a queue",
        description: "What runs goes on, and what has ended stays: dead letters too.",
        params,
        body: drainRequestSchema.nullish(),
        response: { 200: describeResponse("What was removed.", drainReportSchema), ...problemResponses },
      },
    },
    async (request, reply) => {
      const { queue } = request.params;
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      const signal = AbortSignal.any([untilGone(reply, closing), AbortSignal.timeout(longestDrainMs)]);
      const report = await drainQueue(name.data, request.body ?? {}, signal);
      noteRun(request, { waiting: report.waiting, delayed: report.delayed }, { ...report, signal });
      return reply.status(200).send(report);
    },
  );
}
