import { createApiKey, revokeApiKey } from "@millrace/access";
import { expect, test } from "vitest";
import { apiKey, createTestApp, expectProblem, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

function logIn(fields: Record<string, string>, headers: Record<string, string> = {}) {
  const payload = new URLSearchParams(fields).toString();
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return app().inject({ method: "POST", url: "/login", headers: { ...type, ...headers }, payload });
}

async function cookieOf(key: string): Promise<string> {
  const response = await logIn({ key });
  expect(response.statusCode).toBe(303);
  return String(response.headers["set-cookie"]).split(";")[0] ?? "";
}

test("who logs in with a key sees what the key may see, and nothing after logging out", async () => {
  const response = await logIn({ key: apiKey, next: "/docs" });
  expect([response.statusCode, response.headers.location]).toEqual([303, "/docs"]);
  const cookie = await cookieOf(apiKey);
  expect(cookie).not.toContain(apiKey);
  for (const url of ["/admin/queues", "/admin/queues/api/queues", "/docs/", "/examples"]) {
    expect((await app().inject({ url, headers: { cookie } })).statusCode).toBe(200);
  }
  const out = await app().inject({ method: "POST", url: "/logout", headers: { cookie } });
  expect([out.statusCode, out.headers.location]).toEqual([303, "/login"]);
  expect(out.headers["set-cookie"]).toContain("Max-Age=0");
});

test("a session is for pages alone: no route of a program takes it, so that no site can make a browser act", async () => {
  const cookie = await cookieOf(apiKey);
  expectProblem(await app().inject({ url: "/jobs/email/x", headers: { cookie } }), 401, "unauthorized");
  expectProblem(
    await app().inject({ method: "POST", url: "/jobs/email/x/cancel", headers: { cookie } }),
    401,
    "unauthorized",
  );
});

test("a key that does not operate sees no dashboard, nor does one of a single workspace", async () => {
  const { key: viewer } = await createApiKey({ name: "viewer", role: "viewer" });
  const url = "/admin/queues";
  expectProblem(await app().inject({ url, headers: { cookie: await cookieOf(viewer) } }), 403, "forbidden");
  const { key: bound } = await createApiKey({ name: "bound", role: "operator", workspaceId: "ws-1" });
  expectProblem(await app().inject({ url, headers: { cookie: await cookieOf(bound) } }), 403, "other_workspace");
});

test("a session ends with its key", async () => {
  const { key, apiKey: made } = await createApiKey({ name: "operator", role: "operator" });
  const cookie = await cookieOf(key);
  await revokeApiKey(made.id);
  // Another process, which has not seen the key before.
  const other = await createTestApp();
  const person = await other.inject({ url: "/admin/queues", headers: { cookie, accept: "text/html" } });
  expect([person.statusCode, person.headers.location]).toEqual([303, "/login?next=%2Fadmin%2Fqueues"]);
  await other.close();
});

test.each(["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/..//evil.example"])(
  "a link to the login page cannot lead on to %s",
  async (next) => {
    expect((await logIn({ key: apiKey, next })).headers.location).toBe("/admin/queues");
    const page = await app().inject({ url: `/login?next=${encodeURIComponent(next)}` });
    expect(page.body).toContain('name="next" value="/admin/queues"');
  },
);

test("a wrong key is told so, and neither it nor what else was sent stands in the page", async () => {
  const response = await logIn({ key: "wrong-key-<script>", next: '/"><script>alert(1)</script>' });
  expect([response.statusCode, response.headers["set-cookie"]]).toEqual([401, undefined]);
  expect(response.body).toContain("not a key that is in force");
  expect(response.body).not.toMatch(/wrong-key|<script/);
  expect(response.headers["content-security-policy"]).toContain("default-src 'none'");
});

test("another site logs nobody in or out", async () => {
  const elsewhere = { "sec-fetch-site": "cross-site" };
  expectProblem(await logIn({ key: apiKey }, elsewhere), 403, "cross_site");
  expectProblem(await app().inject({ method: "POST", url: "/logout", headers: elsewhere }), 403, "cross_site");
});

test("no other route takes a form, which another site could send, and a login takes a small one alone", async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${apiKey}` };
  const url = "/jobs/email/sendEmail";
  const response = await app().inject({ method: "POST", url, headers, payload: "data=x" });
  expectProblem(response, 415, "bad_request");
  expectProblem(await logIn({ key: "x".repeat(5_000) }), 413, "payload_too_large");
});

test("without a secret nobody logs in, the page says what to set, and a key in the header goes on", async () => {
  const without = await createTestApp({ sessionSecret: null });
  const login = await without.inject({ url: "/login" });
  expectProblem(login, 503, "sessions_off");
  expect(login.json().detail).toContain("SESSION_SECRET");
  const cookie = await cookieOf(apiKey);
  expectProblem(await without.inject({ url: "/openapi.json", headers: { cookie } }), 401, "unauthorized");
  const headers = { authorization: `Bearer ${apiKey}` };
  expect((await without.inject({ url: "/openapi.json", headers })).statusCode).toBe(200);
  await without.close();
});
