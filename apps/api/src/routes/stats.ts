import { readStats, statsSchema } from "@millrace/job-admin";
import type { FastifyInstance } from "fastify";
import { describeResponse, problemResponses } from "../problem.ts";

/** `GET /jobs/stats`: how each queue fares. */
export function statsRoutes(app: FastifyInstance): void {
  app.get(
    "/jobs/stats",
    {
      config: { access: "viewer" },
      schema: {
        tags: ["jobs"],
        summary: "Count the jobs of each queue and of all together",
        response: { 200: describeResponse("As things stand.", statsSchema), ...problemResponses },
      },
    },
    async () => readStats(),
  );
}
