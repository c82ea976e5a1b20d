import type { JobStatus } from "@millrace/job-admin";
import { hasEnded, type JobEventFeed, type WaitOptions } from "@millrace/job-events";
import {
  contracts,
  enqueueOptionsSchema,
  enqueueUnchecked,
  type QueueContract,
  type QueueName,
  QueueUnavailableError,
  queueNames,
  targetContract,
} from "@millrace/worker-config";
import type { FastifyContextConfig, FastifyInstance } from "fastify";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import { ownOptions, requireOwnData } from "../access/own-workspace.ts";
import { type Following, tooManyWaits, untilGone, waitQuerySchema, waitTimeoutMs } from "../following.ts";
import { idempotencyHeaders, oncePerKey } from "../idempotency-key.ts";
import { describeProblem, describeResponse, problemResponses, sendProblem, sendUnknownQueue } from "../problem.ts";
import { uncheckedBody } from "../unchecked-body.ts";
import { jobSchema } from "./jobs.ts";

const enqueuedSchema = z
  .object({
    jobId: z.string(),
    queue: queueNames,
    action: z.string(),
    status: z
      .enum(["created", "duplicate"])
      .describe("duplicate: the id or dedupe key was taken; no further job was added."),
    job: jobSchema
      .nullable()
      .optional()
      .describe("With `waitMs`: the job as it stands. Null where its record is gone, which its end can do."),
  })
  .meta({ id: "Enqueued" });

export const envelopeSchema = z.strictObject({ data: z.unknown(), options: z.unknown().optional() });

/** `POST /jobs/:queue/:action`: one route per action of every contract, so that the documentation shows each one's data. */
export function produceRoutes(app: FastifyInstance, following: Following): void {
  for (const contract of Object.values<QueueContract>(contracts)) {
    for (const [action, definition] of Object.entries(contract.actions)) {
      app.post<{ Querystring: z.output<typeof waitQuerySchema> }>(`/jobs/${contract.name}/${action}`, {
        handlerTimeout: waitTimeoutMs,
        config: producerAccess(contract),
        schema: {
          tags: [contract.name],
          summary: `Enqueue ${action}`,
          querystring: waitQuerySchema,
          headers: idempotencyHeaders,
          body: z.object({ data: definition.data, options: enqueueOptionsSchema.optional() }),
          response: {
            200: describeResponse(
              "No further job was added: one with the id or dedupe key exists. With `waitMs`: the job has ended.",
              enqueuedSchema,
            ),
            202: describeResponse("The job is stored and will run. With `waitMs`: it has not ended.", enqueuedSchema),
            409: describeProblem("A request with this Idempotency-Key is being carried out."),
            422: describeProblem("This Idempotency-Key was used with another body."),
            429: tooManyWaits,
            413: describeProblem("The data is larger than QUEUE_MAX_PAYLOAD_BYTES."),
            ...problemResponses,
          },
        },
        // The body is documented here and checked by the enqueue, once: what is stored is what came, not what a schema made of it.
        validatorCompiler: uncheckedBody,
        handler: async (request, reply) => {
          const body = envelopeSchema.safeParse(request.body);
          if (!body.success) {
            const errors = body.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
            const detail = "Expected a JSON body { data, options? }.";
            return sendProblem(reply, { status: 400, title: "Invalid body", code: "invalid_body", detail, errors });
          }
          const { data } = body.data;
          const options = ownOptions(request.access, contract, action, body.data.options);
          requireOwnData(request.access, contract, action, data);
          const target = targetContract(contract, options);
          const { waitMs } = request.query;
          if (waitMs !== undefined && !following.room.enter(request, reply)) return reply;
          const answer = await oncePerKey(request, reply, enqueuedSchema, async (name) => {
            const { status, jobId } = await enqueueUnchecked(target, action, data, named(options, name));
            const enqueued = { jobId, queue: target.name, action, status };
            noteAudit(request, enqueued);
            return { status: status === "created" ? 202 : 200, body: enqueued, isFinal: true };
          });
          if (!answer) return reply;
          if (waitMs === undefined) return reply.status(answer.status).send(answer.body);
          const signal = untilGone(reply, following.closing);
          const job = await waitFor(answer.body, following.feed, { waitMs, signal });
          const isOver = job === null || (job !== undefined && hasEnded(job));
          return reply.status(isOver ? 200 : 202).send({ ...answer.body, job });
        },
      });
    }
  }
  app.post<{ Params: { queue: string; action: string } }>(
    "/jobs/:queue/:action",
    { config: { access: "producer", workspace: "own", notAudited: "It adds nothing." }, schema: { hide: true } },
    async ({ params: { queue, action } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      // No such action, or it would have a route above: the enqueue says so, and which ones there are.
      return enqueueUnchecked(contracts[name.data], action, undefined);
    },
  );
}

/** What the house does by itself is not for everybody to set off: it removes what others look for. */
export function producerAccess({ settings }: QueueContract): FastifyContextConfig {
  return settings.isHousekeeping
    ? { access: "operator", audit: "housekeeping.enqueue" }
    : { access: "producer", workspace: "own", notAudited: "A producer's job tells of itself." };
}

/** The options of a job under a name that its request gives it, unless they say themselves what a duplicate is. */
export function named(options: unknown, name: string | undefined): unknown {
  if (name === undefined) return options;
  if (options === undefined) return { jobId: name };
  const isOpen = typeof options === "object" && options !== null && !Array.isArray(options);
  return isOpen && !("jobId" in options || "dedupe" in options) ? { ...options, jobId: name } : options;
}

/** The job at its end, or when the time is over. Null where its record is gone, nothing where Redis does not answer any more. */
async function waitFor(
  { queue, jobId }: { queue: QueueName; jobId: string },
  feed: JobEventFeed,
  options: WaitOptions,
): Promise<JobStatus | null | undefined> {
  try {
    return (await feed.waitForEnd(queue, jobId, options)) ?? null;
  } catch (error) {
    // The job is stored all the same, and its caller must learn its id.
    if (error instanceof QueueUnavailableError) return undefined;
    throw error;
  }
}
