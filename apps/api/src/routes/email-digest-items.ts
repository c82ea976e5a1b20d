import { addDigestItem, type Database } from "@millrace/database";
import { workspaceIdSchema } from "@millrace/worker-config/contracts";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { workspaceFor } from "../access/own-workspace.ts";
import { describeResponse, problemResponses } from "../problem.ts";

// PostgreSQL keeps no NUL, and a line of a digest is a line.
const line = z
  .string()
  .min(1)
  .regex(/^\P{Cc}*$/u, "expected a single line without control characters");

const itemSchema = z.strictObject({
  recipient: z.email(),
  workspaceId: workspaceIdSchema.optional(),
  topic: line.max(200).optional(),
  text: line.max(2_000),
  link: z
    .url({ protocol: /^https?$/, error: "expected an http or https address" })
    .max(2_000)
    .optional(),
});

/** `POST /email/digest-items`: something to tell with the recipient's next `sendDigest`. */
export function emailDigestItemRoutes(app: FastifyInstance, database: Database): void {
  app.post<{ Body: z.output<typeof itemSchema> }>(
    "/email/digest-items",
    {
      config: {
        access: "producer",
        workspace: "own",
        notAudited: "A producer's item becomes a job, which tells of itself.",
      },
      schema: {
        tags: ["email"],
        summary: "Keep something for the next digest",
        body: itemSchema,
        response: {
          201: describeResponse("It is kept until it is sent.", z.object({ id: z.string() })),
          ...problemResponses,
        },
      },
    },
    async ({ access, body }, reply) => {
      const workspaceId = workspaceFor(access, body.workspaceId);
      return reply.status(201).send(await addDigestItem(database, { ...body, workspaceId }));
    },
  );
}
