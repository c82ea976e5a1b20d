import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { createTestApp } from "../test/test-app.ts";

test("a connection over which nothing has come does not hold up the end, and one that has a request is answered", async () => {
  const app = await createTestApp();
  const held = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  app.get("/held", { config: { access: "public" } }, async () => {
    isAsked.resolve();
    await held.promise;
    return { done: true };
  });
  const origin = await app.listen({ host: "127.0.0.1", port: 0 });
  const arrived = once(app.server, "connection");
  const unused = connect(Number(new URL(origin).port), "127.0.0.1");
  unused.on("error", () => {});
  await arrived;
  const answer = fetch(`${origin}/held`);
  await isAsked.promise;
  const startedAt = performance.now();
  const closed = app.close();
  await once(unused, "close");
  held.resolve();
  expect(await (await answer).json()).toEqual({ done: true });
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});
