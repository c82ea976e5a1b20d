import { closeQueues } from "@millrace/worker-config";
import type { InjectOptions } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKey, basic, bearer, createTestApp, expectProblem, listRoutes } from "../../test/test-app.ts";

const otherKey = "another-key-as-good";
let app: Awaited<ReturnType<typeof createTestApp>>;

beforeAll(async () => {
  app = await createTestApp({ apiKeys: [apiKey, otherKey] });
});

afterAll(async () => {
  await app.close();
  await closeQueues();
});

const encode = (credentials: string) => Buffer.from(credentials).toString("base64");

test("only the probes answer without a key: every other route there is asks for one", async () => {
  const routes = listRoutes(app);
  expect(routes.length).toBeGreaterThan(50);
  const open = new Set<string>();
  for (const { method, url } of routes) {
    // What the router lists is what it takes; the type of inject knows the usual methods only.
    const response = await app.inject({ method: method as NonNullable<InjectOptions["method"]>, url });
    if (response.statusCode !== 401) open.add(url);
  }
  expect([...open]).toEqual(["/livez", "/readyz"]);
  for (const url of ["/dashboard/static/favicon-32x32.png", "/dashboard/static/nope"]) {
    expectProblem(await app.inject({ url }), 401, "unauthorized");
  }
});

describe("a route for programs", () => {
  const url = "/jobs/email/nope";

  test.each([
    ["no header", undefined],
    ["an empty header", ""],
    ["another key", "Bearer wrong-key-wrong-key"],
    ["the beginning of a key", `Bearer ${apiKey.slice(0, -1)}`],
    ["more than a key", `Bearer ${apiKey}x`],
    ["both keys at once", `Bearer ${apiKey},${otherKey}`],
    ["an empty key", "Bearer "],
    ["a key without its scheme", apiKey],
    ["another scheme", `Token ${apiKey}`],
    ["Basic, which a browser would add to a foreign page's request", basic.authorization],
  ])("refuses %s and says what it expects, not what it got", async (_, authorization) => {
    const response = await app.inject({ url, headers: authorization === undefined ? {} : { authorization } });
    expectProblem(response, 401, "unauthorized");
    expect(response.headers["www-authenticate"]).toBe('Bearer realm="Millrace"');
    expect(response.json().detail).toContain("Authorization: Bearer <key>");
    expect(response.body).not.toContain(apiKey.slice(0, -1));
    expect(response.body).not.toContain("wrong-key");
  });

  test.each([`Bearer ${apiKey}`, `Bearer ${otherKey}`, `bearer   ${apiKey}`])("takes %s", async (authorization) => {
    expect((await app.inject({ url, headers: { authorization } })).statusCode).toBe(404);
  });

  test("refuses before it reads the body", async () => {
    const response = await app.inject({
      method: "POST",
      url: "/jobs/email/sendEmail",
      headers: { "content-type": "application/json" },
      payload: "{ no JSON",
    });
    expectProblem(response, 401, "unauthorized");
  });
});

describe.each(["/docs/", "/openapi.json", "/dashboard"])("the page %s", (url) => {
  test("asks a browser for a name and a password", async () => {
    const response = await app.inject({ url });
    expectProblem(response, 401, "unauthorized");
    expect(response.headers["www-authenticate"]).toBe('Basic realm="Millrace", charset="UTF-8"');
  });

  test("takes a key as the password of any name, and as a program sends it", async () => {
    const nameless = { authorization: `Basic ${encode(`:${otherKey}`)}` };
    for (const headers of [basic, nameless, bearer]) {
      expect((await app.inject({ url, headers })).statusCode).toBe(200);
    }
  });

  test.each([encode("anybody:wrong-key-wrong-key"), encode(`${apiKey}:`), encode(`a:b:${apiKey}`), "%%%", ""])(
    "refuses the credentials %s",
    async (credentials) => {
      expectProblem(await app.inject({ url, headers: { authorization: `Basic ${credentials}` } }), 401, "unauthorized");
    },
  );
});

test("a key is never written to the log", async () => {
  await app.inject({ url: "/jobs/email/nope", headers: bearer });
  await app.inject({ url: "/jobs/email/nope", headers: { authorization: "Bearer wrong-key-wrong-key" } });
  expect(app.logged.length).toBeGreaterThan(1);
  expect(app.logged.join("")).not.toMatch(new RegExp(`${apiKey}|wrong-key`));
});
