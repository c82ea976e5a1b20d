import type { FastifyInstance } from "fastify";

/** `GET /`: where to go on. */
export function homeRoutes(app: FastifyInstance): void {
  const links = { docs: "/docs", openapi: "/openapi.json", examples: "/examples", dashboard: "/admin/queues" };
  const state = { jobs: "/jobs", stats: "/jobs/stats", deadLetters: "/dead-letters", metrics: "/metrics" };
  app.get("/", { config: { access: "public" }, schema: { hide: true } }, async () => ({
    name: "Millrace",
    access: "Authorization: Bearer <key>, or /login for people",
    ...links,
    ...state,
    live: "/livez",
    ready: "/readyz",
  }));
}
