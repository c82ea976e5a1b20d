import { findJob, jobStatuses } from "@millrace/job-admin";
import { hasEnded } from "@millrace/job-events";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { type Following, tooManyWaits, untilGone, waitQuerySchema, waitTimeoutMs } from "../following.ts";
import { describeResponse, problemResponses, sendUnknownJob, sendUnknownQueue } from "../problem.ts";

export const jobSchema = z
  .object({
    jobId: z.string(),
    queue: queueNames,
    action: z.string(),
    status: jobStatuses,
    attempts: z.int().describe("Attempts that ended so far."),
    progress: z.unknown().describe("In per cent, as its handler said last, 0 until then; 100 once it succeeded."),
    createdAt: z.iso.datetime(),
    dueAt: z.iso
      .datetime()
      .nullable()
      .describe("When it is due that waits for its time: delayed, deferred, or between two attempts."),
    startedAt: z.iso.datetime().nullable(),
    finishedAt: z.iso.datetime().nullable(),
    result: z.unknown(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: "Job" });

/** `GET /jobs/:queue/:jobId`. */
export function jobRoutes(app: FastifyInstance, { feed, closing, room }: Following): void {
  app.get<{ Params: { queue: string; jobId: string }; Querystring: z.output<typeof waitQuerySchema> }>(
    "/jobs/:queue/:jobId",
    {
      config: { access: "any", workspace: "job" },
      handlerTimeout: waitTimeoutMs,
      schema: {
        tags: ["jobs"],
        summary: "Read a job's status",
        params: z.object({ queue: z.string(), jobId: z.string() }),
        querystring: waitQuerySchema,
        response: {
          200: describeResponse("The job as it stands. With `waitMs`, it has ended.", jobSchema),
          202: describeResponse("With `waitMs`: the job as it stands, and it has not ended.", jobSchema),
          429: tooManyWaits,
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { queue, jobId } = request.params;
      const { waitMs } = request.query;
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      if (waitMs === undefined) return (await findJob(name.data, jobId)) ?? sendUnknownJob(reply, queue);
      if (!room.enter(request, reply)) return reply;
      const job = await feed.waitForEnd(name.data, jobId, { waitMs, signal: untilGone(reply, closing) });
      return job ? reply.status(hasEnded(job) ? 200 : 202).send(job) : sendUnknownJob(reply, queue);
    },
  );
}
