import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import { queues } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { sendProblem } from "../problem.ts";

export const dashboardPath = "/dashboard";

/**
 * Bull Board over every queue, to look and not to touch: it has no protection of its own against a foreign page's requests, and its
 * retry would bypass what a replay resets.
 */
export async function dashboardRoutes(app: FastifyInstance): Promise<void> {
  app.decorate("foreignRoutes", { access: "operator", isPage: true });
  const server = new FastifyAdapter();
  server.setBasePath(dashboardPath);
  createBullBoard({
    queues: Object.values(queues).map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: "Millrace" } },
  });
  // Read-only queues alone leave it to each route of Bull Board, a later one included, to look at that.
  app.addHook("onRequest", async ({ method }, reply) => {
    if (method === "GET" || method === "HEAD") return undefined;
    const detail = "The dashboard is for looking only.";
    return sendProblem(reply, { status: 405, title: "Method not allowed", code: "read_only", detail });
  });
  await app.register(server.registerPlugin(), { prefix: dashboardPath });
}
