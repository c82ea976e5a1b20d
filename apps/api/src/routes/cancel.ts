import { cancelJob } from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import {
  describeProblem,
  describeResponse,
  problemResponses,
  sendProblem,
  sendQuarantined,
  sendUnknownJob,
  sendUnknownQueue,
} from "../problem.ts";

const cancellationSchema = z.object({
  jobId: z.string(),
  queue: queueNames,
  status: z.enum(["cancelled", "cancelling"]),
  children: z
    .object({
      cancelled: z.int(),
      cancelling: z.int(),
      finished: z.int().describe("Had ended before."),
      left: z.int().describe("Not called off: in a queue that Millrace does not have, or one of too many."),
    })
    .describe("In a flow, the job's descendants are called off with it."),
  parent: z
    .object({
      queue: queueNames,
      jobId: z.string(),
      effect: z
        .enum(["fails", "waits", "runs"])
        .describe("It fails with its child, waits for its other children, or runs at once without this one."),
    })
    .nullable()
    .describe("In a flow, the parent that waits for the job, and what it does now."),
});

/** `POST /jobs/:queue/:jobId/cancel`. */
export function cancelRoutes(app: FastifyInstance): void {
  app.post<{ Params: { queue: string; jobId: string } }>(
    "/jobs/:queue/:jobId/cancel",
    {
      config: { access: "operator", workspace: "job", audit: "job.cancel" },
      schema: {
        tags: ["jobs"],
        summary: "Call a job off",
        params: z.object({ queue: z.string(), jobId: z.string() }),
        response: {
          200: describeResponse("It will not run.", cancellationSchema),
          202: describeResponse(
            "It runs; its worker has been told and ends it. Where that has died, another one does within a minute.",
            cancellationSchema,
          ),
          409: describeProblem("It has ended already, its record cannot be read, or it lies in quarantine."),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { queue, jobId } = request.params;
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      const { outcome: status, children, parent } = await cancelJob(name.data, jobId);
      noteAudit(request, { children: children.cancelled + children.cancelling });
      switch (status) {
        case "cancelled":
          return reply.status(200).send({ jobId, queue: name.data, status, children, parent });
        case "cancelling":
          return reply.status(202).send({ jobId, queue: name.data, status, children, parent });
        case "finished": {
          const detail = `The job has ended already; GET /jobs/${queue}/${encodeURIComponent(jobId)} says how.`;
          return sendProblem(reply, { status: 409, title: "Already finished", code: "already_finished", detail });
        }
        case "corrupt": {
          const detail =
            "The job's record cannot be read as a job. Remove it, or leave it to a worker that comes to it, which puts it into quarantine.";
          return sendProblem(reply, { status: 409, title: "Not cancelled", code: "corrupt", detail });
        }
        case "quarantined":
          return sendQuarantined(reply, queue, jobId);
        case "unknown":
          return sendUnknownJob(reply, queue);
      }
    },
  );
}
