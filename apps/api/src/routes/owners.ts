import type { WorkspaceDirectory } from "@millrace/workspaces";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { describeResponse, problemResponses, sendProblem } from "../problem.ts";

const tags = ["owners"];
const params = z.object({
  id: z.string().regex(/^\P{Cc}{1,256}$/u, "expected 1 to 256 characters, none of them a control character"),
});
const standingSchema = z.object({ ownerId: z.string(), isBlocked: z.boolean() });

/** `/owners`: whose jobs run. Workers go by a change within two seconds. */
export function ownerRoutes(app: FastifyInstance, directory: WorkspaceDirectory): void {
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
    async ({ params: { id } }, reply) => tell(reply, id, true, () => directory.blockOwner(id)),
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
    async ({ params: { id } }, reply) => tell(reply, id, false, () => directory.unblockOwner(id)),
  );
}

async function tell(
  reply: FastifyReply,
  ownerId: string,
  isBlocked: boolean,
  change: () => Promise<void>,
): Promise<FastifyReply> {
  try {
    await change();
  } catch (err) {
    // The id was checked before, so that it is Redis.
    reply.log.error({ err, code: "directory_unavailable" }, "the directory of workspaces took no change");
    const detail = "Redis does not answer, so that the change may or may not have been made. Asking again is safe.";
    reply.header("retry-after", "2");
    return sendProblem(reply, { status: 503, title: "Directory unavailable", code: "directory_unavailable", detail });
  }
  return reply.status(200).send({ ownerId, isBlocked });
}
