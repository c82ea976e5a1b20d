import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { OwnerDirectory } from "../open-directory.ts";
import { describeResponse, problemResponses } from "../problem.ts";

const tags = ["owners"];
const params = z.object({
  id: z.string().regex(/^\P{Cc}{1,256}$/u, "expected 1 to 256 characters, none of them a control character"),
});
const standingSchema = z.object({ ownerId: z.string(), isBlocked: z.boolean() });

/** `/owners`: whose jobs run. Workers go by a change within two seconds. */
export function ownerRoutes(app: FastifyInstance, directory: OwnerDirectory): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    "/owners/:id/block",
    {
      config: { access: "operator", audit: "owner.block" },
      schema: {
        tags,
        summary: "Skip the jobs of every workspace of an owner",
        params,
        response: {
          200: describeResponse(
            "They are skipped from now on, those of workspaces assigned later as well.",
            standingSchema,
          ),
          ...problemResponses,
        },
      },
    },
    async ({ params: { id } }) => {
      await directory.blockOwner(id);
      return { ownerId: id, isBlocked: true };
    },
  );

  typed.post(
    "/owners/:id/unblock",
    {
      config: { access: "operator", audit: "owner.unblock" },
      schema: {
        tags,
        summary: "Let the jobs of an owner's workspaces run again",
        params,
        response: {
          200: describeResponse("They run from now on. Those that were skipped stay so.", standingSchema),
          ...problemResponses,
        },
      },
    },
    async ({ params: { id } }) => {
      await directory.unblockOwner(id);
      return { ownerId: id, isBlocked: false };
    },
  );
}
