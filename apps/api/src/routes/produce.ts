import {
  agentContractFor,
  contracts,
  enqueueOptionsSchema,
  enqueueUnchecked,
  type QueueContract,
  queueNames,
} from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { describeProblem, describeResponse, problemResponses, sendProblem, sendUnknownQueue } from "../problem.ts";

const enqueuedSchema = z
  .object({
    jobId: z.string(),
    queue: queueNames,
    action: z.string(),
    status: z
      .enum(["created", "duplicate"])
      .describe("duplicate: the id or dedupe key was taken; no further job was added."),
  })
  .meta({ id: "Enqueued" });

const envelopeSchema = z.strictObject({ data: z.unknown(), options: z.unknown().optional() });

/** `POST /jobs/:queue/:action`: one route per action of every contract, so that the documentation shows each one's data. */
export function produceRoutes(app: FastifyInstance): void {
  for (const contract of Object.values<QueueContract>(contracts)) {
    for (const [action, definition] of Object.entries(contract.actions)) {
      app.post(`/jobs/${contract.name}/${action}`, {
        schema: {
          tags: [contract.name],
          summary: `Enqueue ${action}`,
          body: z.object({ data: definition.data, options: enqueueOptionsSchema.optional() }),
          response: {
            200: describeResponse("No further job was added: one with the id or dedupe key exists.", enqueuedSchema),
            202: describeResponse("The job is stored and will run.", enqueuedSchema),
            413: describeProblem("The data is larger than QUEUE_MAX_PAYLOAD_BYTES."),
            ...problemResponses,
          },
        },
        // The body is documented here and checked by the enqueue, once: what is stored is what came, not what a schema made of it.
        validatorCompiler: () => (value: unknown) => ({ value }),
        handler: async (request, reply) => {
          const body = envelopeSchema.safeParse(request.body);
          if (!body.success) {
            const errors = body.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
            const detail = "Expected a JSON body { data, options? }.";
            return sendProblem(reply, { status: 400, title: "Invalid body", code: "invalid_body", detail, errors });
          }
          const { data, options } = body.data;
          const target = targetOf(contract, options);
          const { status, jobId } = await enqueueUnchecked(target, action, data, options);
          return reply.status(status === "created" ? 202 : 200).send({ jobId, queue: target.name, action, status });
        },
      });
    }
  }
  app.post<{ Params: { queue: string; action: string } }>(
    "/jobs/:queue/:action",
    { schema: { hide: true } },
    async ({ params: { queue, action } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      // No such action, or it would have a route above: the enqueue says so, and which ones there are.
      return enqueueUnchecked(contracts[name.data], action, undefined);
    },
  );
}

/** A job for a language model goes where its priority says, and the answer names that queue. */
function targetOf(contract: QueueContract, options: unknown): QueueContract {
  if (contract.name !== "aiAgent" || typeof options !== "object" || options === null) return contract;
  return agentContractFor("priority" in options ? options.priority : undefined);
}
