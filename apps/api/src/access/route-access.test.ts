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
