import { describe, expect, test } from "vitest";
import { apiKey, basic, bearer, createTestApp, expectProblem, useTestApp } from "../../test/test-app.ts";

const otherKey = "another-key-as-good";
const app = useTestApp({ apiKeys: [apiKey, otherKey] });

const encode = (credentials: string) => Buffer.from(credentials).toString("base64");

test("the files of a page are behind the same door as the page", async () => {
  for (const url of ["/admin/queues/static/favicon-32x32.png", "/admin/queues/static/nope"]) {
    expectProblem(await app().inject({ url }), 401, "unauthorized");
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
    const response = await app().inject({ url, headers: authorization === undefined ? {} : { authorization } });
    expectProblem(response, 401, "unauthorized");
    expect(response.headers["www-authenticate"]).toBe('Bearer realm="Millrace"');
    expect(response.json().detail).toContain("Authorization: Bearer <key>");
    expect(response.body).not.toContain(apiKey.slice(0, -1));
    expect(response.body).not.toContain("wrong-key");
  });

  test.each([`Bearer ${apiKey}`, `Bearer ${otherKey}`, `bearer   ${apiKey}`])("takes %s", async (authorization) => {
    expect((await app().inject({ url, headers: { authorization } })).statusCode).toBe(404);
  });

  test("refuses before it reads the body", async () => {
    const response = await app().inject({
      method: "POST",
      url: "/jobs/email/sendEmail",
      headers: { "content-type": "application/json" },
      payload: "{ no JSON",
    });
    expectProblem(response, 401, "unauthorized");
  });
});

describe.each(["/docs/", "/openapi.json", "/admin/queues"])("the page %s", (url) => {
  test("leads a person to the login page and tells a program what is missing", async () => {
    const person = await app().inject({ url: `${url}?q=1`, headers: { accept: "text/html,*/*" } });
    expect([person.statusCode, person.headers.location]).toEqual([303, `/login?next=${encodeURIComponent(url)}`]);
    expectProblem(await app().inject({ url }), 401, "unauthorized");
  });

  test("takes a key as the password of any name, and as a program sends it", async () => {
    const nameless = { authorization: `Basic ${encode(`:${otherKey}`)}` };
    for (const headers of [basic, nameless, bearer]) {
      expect((await app().inject({ url, headers })).statusCode).toBe(200);
    }
  });

  test.each([encode("anybody:wrong-key-wrong-key"), encode(`${apiKey}:`), encode(`a:b:${apiKey}`), "%%%", ""])(
    "refuses the credentials %s",
    async (credentials) => {
      expectProblem(
        await app().inject({ url, headers: { authorization: `Basic ${credentials}` } }),
        401,
        "unauthorized",
      );
    },
  );
});

test("a key is never written to the log", async () => {
  await app().inject({ url: "/jobs/email/nope", headers: bearer });
  await app().inject({
    url: "/jobs/email/nope?key=wrong-key",
    headers: { authorization: "Bearer wrong-key-wrong-key" },
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  for (const key of ["wrong-key-in-the-form", apiKey]) {
    await app().inject({ method: "POST", url: "/login", headers, payload: `key=${key}` });
  }
  expect(app().logged.length).toBeGreaterThan(1);
  expect(app().logged.join("")).not.toMatch(new RegExp(`${apiKey}|wrong-key`));
});

test("an address that tries keys is refused for a while, also with a right one, and says until when", async () => {
  const limited = await createTestApp({ maxWrongKeys: 3, trustProxy: "127.0.0.1" });
  const ask = (authorization: string, client: string) =>
    limited.inject({ url: "/openapi.json", headers: { authorization, "x-forwarded-for": client } });
  for (let tries = 0; tries < 3; tries++) {
    expectProblem(await ask("Bearer wrong-key-wrong-key", "192.0.2.1"), 401, "unauthorized");
  }
  const refused = await ask(bearer.authorization, "192.0.2.1");
  expectProblem(refused, 429, "too_many_wrong_keys");
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(60);
  expect((await ask(bearer.authorization, "192.0.2.2")).statusCode).toBe(200);
  await limited.close();
});

test("without a proxy that is trusted, nobody escapes the limit by what a header says", async () => {
  const limited = await createTestApp({ maxWrongKeys: 2 });
  const ask = (client: string) =>
    limited.inject({
      url: "/openapi.json",
      headers: { authorization: "Bearer wrong-key-wrong-key", "x-forwarded-for": client },
    });
  for (const client of ["192.0.2.1", "192.0.2.2"]) expectProblem(await ask(client), 401, "unauthorized");
  expectProblem(await ask("192.0.2.3"), 429, "too_many_wrong_keys");
  await limited.close();
});

test("wrong keys at once are as many tries as one after the other", async () => {
  const limited = await createTestApp({ maxWrongKeys: 20 });
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, index) => {
      const authorization = `Bearer mr_${String(index).padStart(16, "0")}_${"x".repeat(43)}`;
      return limited.inject({ url: "/openapi.json", headers: { authorization } });
    }),
  );
  const count = (status: number) => answers.filter(({ statusCode }) => statusCode === status).length;
  expect([count(401), count(429)]).toEqual([20, 280]);
  await limited.close();
});
