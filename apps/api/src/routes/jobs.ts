import { findJob, jobStatuses } from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { describeResponse, problemResponses, sendUnknownJob, sendUnknownQueue } from "../problem.ts";

const jobSchema = z
  .object({
    jobId: z.string(),
    queue: queueNames,
    action: z.string(),
    status: jobStatuses,
    attempts: z.int().describe("Attempts that ended so far."),
    progress: z.unknown(),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    finishedAt: z.iso.datetime().nullable(),
    result: z.unknown(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: "Job" });

/** `GET /jobs/:queue/:jobId`. */
export function jobRoutes(app: FastifyInstance): void {
  app.get<{ Params: { queue: string; jobId: string } }>(
    "/jobs/:queue/:jobId",
    {
      config: { access: "any", workspace: "job" },
      schema: {
        tags: ["jobs"],
        summary: "Read a job's status",
        params: z.object({ queue: z.string(), jobId: z.string() }),
        response: { 200: describeResponse("The job as it stands.", jobSchema), ...problemResponses },
      },
    },
    async ({ params: { queue, jobId } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      const job = await findJob(name.data, jobId);
      return job ?? sendUnknownJob(reply, queue);
    },
  );
}
