import { listWorkers, workerListSchema } from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { describeResponse, problemResponses } from "../problem.ts";

/** `GET /workers`: which worker processes are alive, and what they run. */
export function workerRoutes(app: FastifyInstance): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    "/workers",
    {
      config: { access: "viewer" },
      schema: {
        tags: ["workers"],
        summary: "List the workers that are alive",
        querystring: z.object({ queue: queueNames.optional().describe("Only those of this queue.") }),
        response: {
          200: describeResponse(
            "By queue, the one that started first in front.",
            z.object({ items: workerListSchema.shape.workers, isCut: workerListSchema.shape.isCut }),
          ),
          ...problemResponses,
        },
      },
    },
    async ({ query: { queue } }) => {
      const { workers, isCut } = await listWorkers(queue);
      return { items: workers, isCut };
    },
  );
}
