import {
  apiKeySchema,
  createApiKey,
  keyCursorSchema,
  listApiKeys,
  newApiKeySchema,
  revokeApiKey,
} from "@millrace/access";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import { pageQuery, pageSchema } from "../page.ts";
import { describeResponse, problemResponses, sendProblem } from "../problem.ts";

const tags = ["keys"];

/** `/keys`: who may use this API. Those of API_KEYS are not among them: they are changed where they stand. */
export function keyRoutes(app: FastifyInstance): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    "/keys",
    {
      config: { access: "admin", audit: "key.create" },
      schema: {
        tags,
        summary: "Make a key",
        body: newApiKeySchema,
        response: {
          201: describeResponse(
            "It is in force. `key` is not shown again.",
            apiKeySchema.extend({ key: z.string().describe("For its owner: `Authorization: Bearer <key>`.") }),
          ),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { key, apiKey } = await createApiKey(request.body);
      const { id, name, role, workspaceId, expiresAt } = apiKey;
      const bounds = { ...(workspaceId !== null && { workspaceId }), ...(expiresAt !== null && { expiresAt }) };
      noteAudit(request, { id, name, role, ...bounds });
      return reply.status(201).send({ ...apiKey, key });
    },
  );

  typed.get(
    "/keys",
    {
      config: { access: "admin" },
      schema: {
        tags,
        summary: "List keys",
        querystring: z.object(pageQuery(keyCursorSchema)),
        response: {
          200: describeResponse("A page, by id.", pageSchema(apiKeySchema)),
          ...problemResponses,
        },
      },
    },
    ({ query }) => listApiKeys(query),
  );

  typed.delete(
    "/keys/:id",
    {
      config: { access: "admin", audit: "key.revoke" },
      schema: {
        tags,
        summary: "Revoke a key",
        params: z.object({ id: z.string() }),
        response: {
          204: z.null().describe("Every process refuses it within five seconds, and ends its streams within ten."),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const revoked = await revokeApiKey(request.params.id);
      if (!revoked) {
        const detail = "There is no key with this id. It never was, or it was revoked.";
        return sendProblem(reply, { status: 404, title: "Unknown key", code: "unknown_key", detail });
      }
      noteAudit(request, { name: revoked.name, role: revoked.role });
      return reply.status(204).send(null);
    },
  );
}
