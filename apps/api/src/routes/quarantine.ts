import {
  discardQuarantined,
  listQuarantine,
  quarantinedRecordSchema,
  quarantinePageSchema,
  readQuarantined,
} from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { pageQuery, pageSchema } from "../page.ts";
import { describeResponse, problemResponses, sendProblem, sendUnknownQueue } from "../problem.ts";

const tags = ["quarantine"];
const params = z.object({ queue: z.string(), jobId: z.string() });
const rowSchema = z.object({
  queue: queueNames,
  jobId: z.string(),
  reason: z.enum(["corrupt", "evicted"]),
  quarantinedAt: z.iso.datetime().nullable().describe("Null where the entry is damaged itself."),
  bytes: z.int().describe("What it takes in Redis."),
});
// The largest payload that a queue takes by default, and all of its fields go over one connection at once.
const mostFieldBytes = 1_048_576;

/** `/quarantine`: jobs that workers took out of their queue because their records are damaged. Nobody but people can mend one. */
export function quarantineRoutes(app: FastifyInstance): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get(
    "/quarantine",
    {
      config: { access: "operator" },
      schema: {
        tags,
        summary: "List what lies in quarantine, in no order",
        querystring: z.object({
          queue: queueNames.optional().describe("Only of this queue."),
          ...pageQuery(quarantinePageSchema.shape.cursor),
        }),
        response: {
          200: describeResponse("About as many as `limit` says, without the records.", pageSchema(rowSchema)),
          ...problemResponses,
        },
      },
    },
    async ({ query: { queue, cursor, limit } }) => {
      const { jobs, cursor: nextCursor } = await listQuarantine(queue, { cursor, limit });
      return { items: jobs, nextCursor };
    },
  );

  typed.get(
    "/quarantine/:queue/:jobId",
    {
      config: { access: "operator", audit: "quarantine.read" },
      exposeHeadRoute: false,
      schema: {
        tags,
        summary: "Read a record in quarantine, with its payload",
        params,
        querystring: z.object({
          maxFieldBytes: z.coerce
            .number()
            .int()
            .min(1)
            .max(mostFieldBytes)
            .default(65_536)
            .describe("How much of each field."),
        }),
        response: {
          200: describeResponse("Byte for byte, as it was found.", quarantinedRecordSchema),
          ...problemResponses,
        },
      },
    },
    async ({ params: { queue, jobId }, query: { maxFieldBytes } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      return (await readQuarantined(name.data, jobId, maxFieldBytes)) ?? sendNotQuarantined(reply, queue);
    },
  );

  typed.delete(
    "/quarantine/:queue/:jobId",
    {
      config: { access: "operator", audit: "quarantine.discard" },
      schema: {
        tags,
        summary: "Remove a record from quarantine for good",
        params,
        response: { 204: z.null().describe("It is gone."), ...problemResponses },
      },
    },
    async ({ params: { queue, jobId } }, reply) => {
      const name = queueNames.safeParse(queue);
      if (!name.success) return sendUnknownQueue(reply, queue);
      return (await discardQuarantined(name.data, jobId))
        ? reply.status(204).send(null)
        : sendNotQuarantined(reply, queue);
    },
  );
}

function sendNotQuarantined(reply: FastifyReply, queue: string): FastifyReply {
  const detail = `No job with this id lies in quarantine of queue ${queue}. It never did, was discarded, or its time was over.`;
  return sendProblem(reply, { status: 404, title: "Not in quarantine", code: "not_quarantined", detail });
}
