import { createBullBoard } from "@bull-board/api";
import { FastifyAdapter } from "@bull-board/fastify";
import { queues } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { sendProblem } from "../problem.ts";
import { DashboardQueue } from "./dashboard-queue.ts";

const dashboardPath = "/admin/queues";

/**
 * Bull Board over every queue, to look and not to touch: it has no protection of its own against a foreign page's requests, and its
 * retry would bypass what a replay resets. What operates is the API, whose every action leaves a row in the audit log.
 */
export async function dashboardRoutes(app: FastifyInstance): Promise<void> {
  app.decorate("foreignRoutes", { access: "operator", isPage: true, notAudited: "It is for looking only." });
  const server = new FastifyAdapter();
  server.setBasePath(dashboardPath);
  createBullBoard({
    queues: Object.values(queues).map((queue) => new DashboardQueue(queue)),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: "Millrace", miscLinks: [{ text: "Log out", url: "/login" }] } },
  });
  // Read-only queues alone leave it to each route of Bull Board, a later one included, to look at that.
  app.addHook("onRequest", async ({ method }, reply) => {
    if (method === "GET" || method === "HEAD") return undefined;
    const detail = "The dashboard is for looking only.";
    return sendProblem(reply, { status: 405, title: "Method not allowed", code: "read_only", detail });
  });
  // The page asks a font service for its fonts, which would tell it who looks at this dashboard. The policy stops that; so nobody asks.
  app.addHook("onSend", async (_, reply, payload) => {
    const isPage = typeof payload === "string" && String(reply.getHeader("content-type")).startsWith("text/html");
    return isPage ? payload.replace(/<link[^>]+href="https?:[^>]*>/g, "") : payload;
  });
  // Where it was before.
  const moved = { config: { access: "public" }, schema: { hide: true } } as const;
  for (const path of ["/dashboard", "/dashboard/*"]) {
    app.get(path, moved, async (_, reply) => reply.redirect(dashboardPath, 308));
  }
  await app.register(server.registerPlugin(), { prefix: dashboardPath });
}
