import {
  contracts,
  type EnqueuedOfMany,
  enqueueManyUnchecked,
  enqueueOptionsSchema,
  type QueueContract,
  queueNames,
  targetContract,
} from "@millrace/worker-config";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import { OtherWorkspaceError, ownOptions, requireOwnData } from "../access/own-workspace.ts";
import { type Answer, idempotencyHeaders, oncePerKey } from "../idempotency-key.ts";
import {
  describeProblem,
  describeResponse,
  problemResponses,
  problemSchema,
  sendProblem,
  toProblem,
} from "../problem.ts";
import { uncheckedBody } from "../unchecked-body.ts";
import { envelopeSchema, named, producerAccess } from "./produce.ts";

const maxItems = 1_000;
const bodyLimit = 16 * 1_024 * 1_024;

const itemSchema = z.object({
  status: z
    .enum(["created", "duplicate", "refused", "unavailable"])
    .describe("As of a single enqueue; refused: it is not valid; unavailable: Redis went away, see its error."),
  jobId: z.string().optional().describe("Of the job that is stored."),
  queue: queueNames.optional().describe("Where that job is, if its options sent it to another queue than this one."),
  error: problemSchema.pick({ code: true, detail: true, errors: true }).optional(),
});
type Item = z.infer<typeof itemSchema>;

const bulkSchema = z
  .object({
    queue: queueNames,
    action: z.string(),
    created: z.int(),
    duplicates: z.int(),
    refused: z.int(),
    unavailable: z.int(),
    items: z.array(itemSchema).describe("One for each that was sent, at its place."),
  })
  .meta({ id: "EnqueuedInBulk" });

const bodySchema = z.strictObject({ items: z.array(z.unknown()).min(1).max(maxItems) });

/** `POST /jobs/:queue/:action/bulk`: many jobs of one action, each checked and answered for itself. */
export function bulkRoutes(app: FastifyInstance, { maxPayloadBytes }: { maxPayloadBytes: number }): void {
  for (const contract of Object.values<QueueContract>(contracts)) {
    for (const [action, { data }] of Object.entries(contract.actions)) {
      const item = z.object({ data, options: enqueueOptionsSchema.optional() });
      app.post(`/jobs/${contract.name}/${action}/bulk`, {
        config: producerAccess(contract),
        bodyLimit: Math.max(bodyLimit, maxPayloadBytes),
        handlerTimeout: 30_000,
        schema: {
          tags: [contract.name],
          summary: `Enqueue ${action}, up to ${maxItems} times`,
          headers: idempotencyHeaders,
          body: z.object({ items: z.array(item).min(1).max(maxItems) }),
          response: {
            200: describeResponse("What became of each. One that is refused stops no other.", bulkSchema),
            409: describeProblem("A request with this Idempotency-Key is being carried out."),
            413: describeProblem("The body is larger than 16 MB."),
            422: describeProblem("This Idempotency-Key was used with another body."),
            ...problemResponses,
          },
        },
        validatorCompiler: uncheckedBody,
        handler: async (request, reply) => {
          const body = bodySchema.safeParse(request.body);
          if (!body.success) {
            const errors = body.error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
            const detail = `Expected a JSON body { items: [{ data, options? }] } with 1 to ${maxItems} items.`;
            return sendProblem(reply, { status: 400, title: "Invalid body", code: "invalid_body", detail, errors });
          }
          const answer = await oncePerKey(request, reply, bulkSchema, (name) =>
            enqueueAll(request, contract, action, body.data.items, name),
          );
          return answer ? reply.status(answer.status).send(answer.body) : reply;
        },
      });
    }
  }
}

async function enqueueAll(
  request: FastifyRequest,
  contract: QueueContract,
  action: string,
  sent: readonly unknown[],
  name: string | undefined,
): Promise<Answer<z.infer<typeof bulkSchema>>> {
  const { access } = request;
  const items: Item[] = [];
  const accepted: { index: number; data: unknown; options: unknown }[] = [];
  for (const [index, item] of sent.entries()) {
    try {
      const { data, options } = envelopeSchema.parse(item);
      requireOwnData(access, contract, action, data);
      const own = ownOptions(access, contract, action, options);
      accepted.push({ index, data, options: named(own, name && `${name}-${index}`) });
    } catch (error) {
      items[index] = refuse(error);
    }
  }
  const strangers = items.filter((item) => item.error?.code === "other_workspace");
  if (strangers.length === sent.length) throw new OtherWorkspaceError(strangers[0]?.error?.detail);
  const results: EnqueuedOfMany[] = [];
  for (const [target, ofTarget] of Map.groupBy(accepted, ({ options }) => targetContract(contract, options))) {
    for (const [place, result] of (await enqueueManyUnchecked(target, action, ofTarget)).entries()) {
      results.push(result);
      const isElsewhere = target !== contract && "jobId" in result;
      items[ofTarget[place]?.index ?? place] = { ...toItem(result), ...(isElsewhere && { queue: target.name }) };
    }
  }
  const lost = results.find((result) => result.status === "unavailable");
  // Nothing has happened at all: that is one answer, and not a thousand.
  if (lost && results.every((result) => result.status === "unavailable" && !result.mayHaveHappened)) throw lost.error;
  const count = (status: Item["status"]) => items.filter((item) => item.status === status).length;
  noteAudit(request, { queue: contract.name, action, created: count("created") });
  return {
    status: 200,
    isFinal: !lost,
    body: {
      queue: contract.name,
      action,
      created: count("created"),
      duplicates: count("duplicate"),
      refused: count("refused"),
      unavailable: count("unavailable"),
      items,
    },
  };
}

function toItem(result: EnqueuedOfMany): Item {
  switch (result.status) {
    case "created":
    case "duplicate":
      return { status: result.status, jobId: result.jobId };
    case "refused":
      return refuse(result.error);
    case "unavailable": {
      const detail = result.mayHaveHappened
        ? "The job may have been added; asking again with the same jobId is safe."
        : "No job was added; try again later.";
      return { status: "unavailable", error: { code: result.error.code, detail } };
    }
  }
}

function refuse(error: unknown): Item {
  if (error instanceof z.ZodError) {
    const errors = error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
    return { status: "refused", error: { code: "invalid_body", detail: "Expected { data, options? }.", errors } };
  }
  if (!(error instanceof Error)) throw error;
  const { status, code, detail, errors } = toProblem(error);
  // What is our fault is not an item's.
  if (status >= 500) throw error;
  return { status: "refused", error: { code, detail, errors } };
}
