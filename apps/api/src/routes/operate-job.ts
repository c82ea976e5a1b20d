import {
  jobDetailsSchema,
  promoteJob,
  type RemoveOutcome,
  type ReplayOutcome,
  readJob,
  removeJob,
  replayDeadLetters,
} from "@millrace/job-admin";
import { type QueueName, queueNames } from "@millrace/worker-config";
import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import {
  describeProblem,
  describeResponse,
  problemResponses,
  sendProblem,
  sendQuarantined,
  sendUnknownJob,
  sendUnknownQueue,
} from "../problem.ts";

interface ByJob {
  Params: { queue: string; jobId: string };
}
const params = z.object({ queue: z.string(), jobId: z.string() });
const reference = z.object({ queue: queueNames, jobId: z.string() });
const tags = ["jobs"];

/** When a letter is not replayed, for the documentation. */
export const notReplayed =
  "It has not failed, cannot be read, lies in quarantine, or children of its flow have to be replayed first.";

/** `/jobs/:queue/:jobId`: what an operator does to one job, beside calling it off. */
export function operateJobRoutes(app: FastifyInstance): void {
  app.get<ByJob>(
    "/jobs/:queue/:jobId/details",
    {
      config: { access: "viewer", workspace: "job" },
      schema: {
        tags,
        summary: "Read all that a job's record says",
        params,
        response: { 200: describeResponse("Without its payload.", jobDetailsSchema), ...problemResponses },
      },
    },
    async ({ params: { queue, jobId } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      return (await readJob(name.data, jobId)) ?? sendUnknownJob(reply, queue);
    },
  );

  app.post<ByJob>(
    "/jobs/:queue/:jobId/retry",
    {
      config: { access: "operator", workspace: "job", audit: "job.retry" },
      schema: {
        tags,
        summary: "Let a job that failed for good, or was cancelled, run again",
        params,
        response: {
          202: describeResponse("It waits to run, with its attempts counted anew.", reference),
          409: describeProblem(notReplayed),
          ...problemResponses,
        },
      },
    },
    async ({ params: { queue, jobId } }, reply) => {
      const name = queueNames.safeParse(queue);
      return name.success ? replayOne(reply, name.data, jobId) : sendUnknownQueue(reply, queue);
    },
  );

  app.post<ByJob>(
    "/jobs/:queue/:jobId/promote",
    {
      config: { access: "operator", workspace: "job", audit: "job.promote" },
      schema: {
        tags,
        summary: "Let a job run now that waits for its time",
        params,
        response: {
          202: describeResponse("It waits for a worker.", reference),
          409: describeProblem(
            "It waits for no time: for a worker already, or its children, or it runs, has ended or lies in quarantine.",
          ),
          ...problemResponses,
        },
      },
    },
    async ({ params: { queue, jobId } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      const outcome = await promoteJob(name.data, jobId);
      if (outcome === "unknown") return sendUnknownJob(reply, queue);
      if (outcome === "quarantined") return sendQuarantined(reply, queue, jobId);
      if (outcome === "promoted") return reply.status(202).send({ queue: name.data, jobId });
      const detail =
        "The job does not wait for its time: it waits for a worker already, or for its children, runs, or has ended.";
      return sendProblem(reply, { status: 409, title: "Not delayed", code: outcome, detail });
    },
  );

  app.delete<ByJob>(
    "/jobs/:queue/:jobId",
    {
      config: { access: "operator", workspace: "job", audit: "job.remove" },
      schema: {
        tags,
        summary: "Remove a job for good, with its payload, result and logs",
        params,
        response: {
          204: z.null().describe("It is gone."),
          409: describeProblem("It runs, others need it, or it lies in quarantine; `code` says which."),
          ...problemResponses,
        },
      },
    },
    async ({ params: { queue, jobId } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      const outcome = await removeJob(name.data, jobId);
      if (outcome === "removed") return reply.status(204).send();
      if (outcome === "unknown") return sendUnknownJob(reply, queue);
      if (outcome === "quarantined") return sendQuarantined(reply, queue, jobId);
      return sendProblem(reply, { status: 409, title: "Not removed", code: outcome, detail: removalDetails[outcome] });
    },
  );
}

/** Lets one dead letter run again, and says what came of it. */
export async function replayOne(reply: FastifyReply, queue: QueueName, jobId: string): Promise<FastifyReply> {
  if (jobId === "") return sendUnknownJob(reply, queue);
  const { replayed, refusals } = await replayDeadLetters({ jobs: [{ queue, jobId }] });
  if (replayed === 1) return reply.status(202).send({ queue, jobId });
  const outcome = refusals[0]?.outcome ?? "unknown";
  if (outcome === "unknown") return sendUnknownJob(reply, queue);
  if (outcome === "quarantined") return sendQuarantined(reply, queue, jobId);
  return sendProblem(reply, { status: 409, title: "Not replayed", code: outcome, detail: replayDetails[outcome] });
}

const replayDetails: Record<Exclude<ReplayOutcome, "unknown" | "quarantined">, string> = {
  replayed: "It waits to run.",
  not_failed: "The job waits, runs or has succeeded; perhaps somebody else has replayed it.",
  corrupt: "The job's record cannot be read as a job. It can be purged.",
  children_open:
    "A child of its flow failed or has not ended: replay the children first, and this job when they have ended.",
  replayed_already: "It was replayed a moment ago and has failed again.",
};

const removalDetails: Record<Exclude<RemoveOutcome, "removed" | "unknown" | "quarantined">, string> = {
  active: "The job runs. Cancel it first.",
  awaited: "The job's parent in a flow waits for it. Cancel the parent, or replay the job, first.",
  children_open: "Children of the job's flow have not ended. Cancel the job first.",
  scheduled: "A schedule owns the job. Remove the schedule.",
  corrupt: "Another kind of key lies under this id, and no list of the queue names it.",
  changed: "The job changed while it was to be removed. Ask again.",
};
