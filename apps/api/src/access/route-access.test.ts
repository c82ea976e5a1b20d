import { fastify } from "fastify";
import { expect, test } from "vitest";
import { requireRouteAccess } from "./route-access.ts";

test("a route that does not say who may use it does not start, and the error says what is missing where", () => {
  const app = fastify();
  requireRouteAccess(app);
  expect(() => app.get("/open", async () => "everything")).toThrow(
    /^The route GET \/open does not say who may use it: expected config: \{ access: "public" \| "any"/,
  );
});

test("a route that changes something and does not say how the audit log hears of it does not start", () => {
  const app = fastify();
  requireRouteAccess(app);
  const act = async () => "done";
  expect(() => app.post("/act", { config: { access: "operator" } }, act)).toThrow(
    /^The route POST \/act does not say what the audit log is to hold of it: expected config: \{ audit: /,
  );
  app.post("/act", { config: { access: "operator", audit: "thing.act" } }, act);
  app.post("/ask", { config: { access: "any", notAudited: "It changes nothing." } }, act);
  app.get("/look", { config: { access: "operator" } }, act);
});

test("a foreign plugin's routes are what its scope says, and no other scope's", async () => {
  const app = fastify();
  requireRouteAccess(app);
  await app.register(async (scope) => {
    scope.decorate("foreignRoutes", { access: "operator" });
    scope.get("/foreign", async ({ routeOptions }) => routeOptions.config.access);
  });
  expect(() => app.get("/beside", async () => "everything")).toThrow("The route GET /beside");
  expect((await app.inject("/foreign")).body).toBe("operator");
  await app.close();
});
