import {
  contracts,
  enqueueOptionsSchema,
  enqueueUnchecked,
  type QueueContract,
  queueNames,
} from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { ownOptions, requireOwnData } from "../access/own-workspace.ts";
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
        // What the house does by itself is not for everybody to set off: it removes what others look for.
        config: contract.settings.isHousekeeping
          ? { access: "operator", audit: "housekeeping.enqueue" }
          : { access: "producer", workspace: "own" },
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
          requireOwnData(request.access, contract, action, body.data.data);
          const options = ownOptions(request.access, body.data.options);
          const { status, jobId } = await enqueueUnchecked(contract, action, body.data.data, options);
          return reply.status(status === "created" ? 202 : 200).send({ jobId, queue: contract.name, action, status });
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
