import type { FastifyInstance } from "fastify";

/** `GET /`: where to go on. */
export function homeRoutes(app: FastifyInstance): void {
  const links = { docs: "/docs", openapi: "/openapi.json", examples: "/examples", dashboard: "/admin/queues" };
  app.get("/", { config: { access: "public" }, schema: { hide: true } }, async () => ({
    name: "Millrace",
    ...links,
    live: "/livez",
    ready: "/readyz",
  }));
}
