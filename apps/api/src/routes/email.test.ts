import { connectDatabase, findEmailTemplate, listDigestRecipients } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import type { InjectOptions } from "fastify";
import { expect, test } from "vitest";
import { bearer, createTestApp, expectProblem, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));

const ask = (method: NonNullable<InjectOptions["method"]>, url: string, payload?: object) =>
  app().inject({ method, url, headers: bearer, ...(payload && { payload }) });

test("a template is stored, read in a reader's language, listed in pages and removed", async () => {
  const put = (locale: string, subject: string) =>
    ask("PUT", `/email/templates/welcome${locale}`, { subject, text: "Hello {{ name }}" });
  expect((await put("", "Hello")).json()).toMatchObject({ id: "welcome", locale: null, subject: "Hello", html: null });
  expect((await put("?locale=de", "Hallo")).json()).toMatchObject({ locale: "de" });
  const read = async (locale: string) => (await ask("GET", `/email/templates/welcome${locale}`)).json().subject;
  expect([await read("?locale=de-AT"), await read("?locale=fr"), await read("")]).toEqual(["Hallo", "Hello", "Hello"]);

  const first = (await ask("GET", "/email/templates?limit=1")).json();
  const second = (await ask("GET", `/email/templates?limit=1&cursor=${encodeURIComponent(first.nextCursor)}`)).json();
  expect([first, second].map(({ items }) => items[0].locale)).toEqual([null, "de"]);

  expect((await ask("DELETE", "/email/templates/welcome?locale=de")).statusCode).toBe(204);
  expectProblem(await ask("DELETE", "/email/templates/welcome?locale=de"), 404, "unknown_template");
  expectProblem(await ask("GET", "/email/templates/nowhere"), 404, "unknown_template");
});

test.each([
  ["a tag that is not closed", { subject: "x", html: "{% if a %}" }, "template_invalid", "html"],
  ["another file", { subject: "x", text: '{% include "x" %}' }, "template_invalid", "text"],
  ["neither html nor text", { subject: "x" }, "invalid_request", "text"],
  ["a NUL", { subject: "x", text: "a\0b" }, "invalid_request", "text"],
  ["no subject", { text: "x" }, "invalid_request", "subject"],
])("a template with %s is refused with the field's name, and not stored", async (_, template, code, path) => {
  const response = await ask("PUT", "/email/templates/broken", template);
  expectProblem(response, 400, code);
  expect(response.json().errors).toMatchObject([{ path }]);
  expect(await findEmailTemplate(database(), "broken")).toBeUndefined();
});

test("an address is suppressed, found, listed in pages and lifted, and never stands in the log", async () => {
  const before = app().logged.length;
  for (const name of ["Zoe", "amy"]) {
    const response = await ask("PUT", "/email/suppressions", { address: `${name}@example.com`, reason: "complaint" });
    expect(response.json()).toMatchObject({ address: `${name.toLowerCase()}@example.com`, reason: "complaint" });
  }
  expect((await ask("PUT", "/email/suppressions", { address: "zoe@example.com" })).json().reason).toBe("complaint");
  expect((await ask("GET", "/email/suppressions?address=ZOE@example.com")).json().items).toHaveLength(1);
  const first = (await ask("GET", "/email/suppressions?limit=1")).json();
  expect(first).toMatchObject({ items: [{ address: "amy@example.com" }], nextCursor: expect.any(String) });
  expect((await ask("GET", `/email/suppressions?limit=2&cursor=${first.nextCursor}`)).json()).toMatchObject({
    items: [{ address: "zoe@example.com", code: null, jobId: null }],
    nextCursor: null,
  });
  expect((await ask("DELETE", "/email/suppressions?address=Zoe@example.com")).statusCode).toBe(204);
  expectProblem(await ask("DELETE", "/email/suppressions?address=zoe@example.com"), 404, "not_suppressed");
  expectProblem(await ask("PUT", "/email/suppressions", { address: "MARKER" }), 400, "invalid_request");
  expect(app().logged.slice(before).join("")).not.toMatch(/example\.com|MARKER/);
});

test("something to tell is kept for the recipient's digest, and what is no line or no web address is refused", async () => {
  const item = { recipient: "ada@example.com", text: "Two new books", link: "https://example.com/books" };
  const response = await ask("POST", "/email/digest-items", item);
  expect([response.statusCode, response.json()]).toEqual([201, { id: expect.any(String) }]);
  const until = new Date(Date.now() + 60_000);
  expect(await listDigestRecipients(database(), { until, limit: 10 })).toMatchObject([{ recipient: item.recipient }]);
  for (const wrong of [{ link: "javascript:alert(1)" }, { text: "a\r\nb" }, { recipient: "x" }, { more: 1 }]) {
    expectProblem(await ask("POST", "/email/digest-items", { ...item, ...wrong }), 400, "invalid_request");
  }
});

test("without its database each of them says so, as something that comes back", async () => {
  const away = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
  const without = await createTestApp({ database: away });
  for (const url of ["/email/templates", "/email/templates/x", "/email/suppressions"]) {
    const response = await without.inject({ url, headers: bearer });
    expectProblem(response, 503, "database_unavailable");
    expect(response.headers["retry-after"]).toBeDefined();
  }
  await without.close();
  await away.close();
});
