import type { JobStatus } from "@millrace/job-admin";
import { hasEnded, type JobEventFeed, type WaitOptions } from "@millrace/job-events";
import {
  agentContractFor,
  contracts,
  enqueueOptionsSchema,
  enqueueUnchecked,
  type QueueContract,
  type QueueName,
  QueueUnavailableError,
  queueNames,
} from "@millrace/worker-config";
import type { FastifyInstance, FastifySchema, FastifySchemaCompiler } from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import { z } from "zod";
import { requireOwnData } from "../access/own-workspace.ts";
import { type Following, untilGone, waitQuerySchema, waitTimeoutMs } from "../following.ts";
import { describeProblem, describeResponse, problemResponses, sendProblem, sendUnknownQueue } from "../problem.ts";
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

const envelopeSchema = z.strictObject({ data: z.unknown(), options: z.unknown().optional() });

/** `POST /jobs/:queue/:action`: one route per action of every contract, so that the documentation shows each one's data. */
export function produceRoutes(app: FastifyInstance, following: Following): void {
  for (const contract of Object.values<QueueContract>(contracts)) {
    for (const [action, definition] of Object.entries(contract.actions)) {
      app.post<{ Querystring: z.output<typeof waitQuerySchema> }>(`/jobs/${contract.name}/${action}`, {
        // What the house does by itself is not for everybody to set off: it removes what others look for.
        config: contract.settings.isHousekeeping
          ? { access: "operator", audit: "housekeeping.enqueue" }
          : { access: "producer", workspace: "own" },
        handlerTimeout: waitTimeoutMs,
        schema: {
          tags: [contract.name],
          summary: `Enqueue ${action}`,
          querystring: waitQuerySchema,
          body: z.object({ data: definition.data, options: enqueueOptionsSchema.optional() }),
          response: {
            200: describeResponse(
              "No further job was added: one with the id or dedupe key exists. With `waitMs`: the job has ended.",
              enqueuedSchema,
            ),
            202: describeResponse("The job is stored and will run. With `waitMs`: it has not ended.", enqueuedSchema),
            413: describeProblem("The data is larger than QUEUE_MAX_PAYLOAD_BYTES."),
            ...problemResponses,
          },
        },
        // The body is documented here and checked by the enqueue, once: what is stored is what came, not what a schema made of it.
        validatorCompiler: unlessBody,
        handler: async (request, reply) => {
          const body = envelopeSchema.safeParse(request.body);
          if (!body.success) {
            const errors = body.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
            const detail = "Expected a JSON body { data, options? }.";
            return sendProblem(reply, { status: 400, title: "Invalid body", code: "invalid_body", detail, errors });
          }
          requireOwnData(request.access, contract, action, body.data.data);
          const target = targetOf(contract, body.data.options);
          const { status, jobId } = await enqueueUnchecked(target, action, body.data.data, body.data.options);
          const enqueued = { jobId, queue: target.name, action, status };
          const { waitMs } = request.query;
          if (waitMs === undefined) return reply.status(status === "created" ? 202 : 200).send(enqueued);
          const job = await waitFor(enqueued, following.feed, { waitMs, signal: untilGone(reply, following.closing) });
          const isOver = job === null || (job !== undefined && hasEnded(job));
          return reply.status(isOver ? 200 : 202).send({ ...enqueued, job });
        },
      });
    }
  }
  app.post<{ Params: { queue: string; action: string } }>(
    "/jobs/:queue/:action",
    { config: { access: "producer", workspace: "own" }, schema: { hide: true } },
    async ({ params: { queue, action } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      // No such action, or it would have a route above: the enqueue says so, and which ones there are.
      return enqueueUnchecked(contracts[name.data], action, undefined);
    },
  );
}

/** Checks every part of a request but the body. */
const unlessBody: FastifySchemaCompiler<FastifySchema> = ({ schema, ...part }) =>
  // Fastify calls with the schema of one part of the request, which is zod's wherever a route has one.
  part.httpPart === "body" ? (value) => ({ value }) : validatorCompiler({ ...part, schema: schema as z.ZodType });

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

/** A job for a language model goes where its priority says, and the answer names that queue. */
function targetOf(contract: QueueContract, options: unknown): QueueContract {
  if (contract.name !== "aiAgent" || typeof options !== "object" || options === null) return contract;
  return agentContractFor("priority" in options ? options.priority : undefined);
}
