import { connectDatabase } from "@millrace/database";
import { queueNames } from "@millrace/worker-config";
import { describe, expect, test } from "vitest";
import { bearer, createTestApp, expectProblem, mail, useTestApp } from "../test/test-app.ts";

const app = useTestApp();

describe("what is not there", () => {
  test.each(["/nope", "/job", "/jobs/email", "/docs/nope", "/jobs/email/a/b"])("%s is a problem", async (url) => {
    const response = await app().inject({ url: `${url}?q=MARKER`, headers: bearer });
    expectProblem(response, 404, "not_found");
    expect(response.json().detail).toContain(`GET ${url}`);
  });

  test.each(["nope", "__proto__", "constructor", "Email", "email%20"])(
    "the queue %s is a problem that lists the queues, read or written",
    async (queue) => {
      for (const method of ["GET", "POST"] as const) {
        const response = await app().inject({ method, url: `/jobs/${queue}/x`, headers: bearer });
        expectProblem(response, 404, "unknown_queue");
        expect(response.json().detail).toContain(queueNames.options.join(", "));
      }
    },
  );

  test.each(["PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND"] as const)("the method %s is a problem", async (method) => {
    const response = await app().inject({ method, url: "/jobs/email/some-job", headers: bearer });
    expectProblem(response, 404, "not_found");
    expect(response.json().detail).toContain(method);
  });

  test("a path that cannot be decoded is a problem, not a page of the framework", async () => {
    for (const method of ["GET", "POST"] as const) {
      expectProblem(await app().inject({ method, url: "/jobs/email/%zz", headers: bearer }), 400, "bad_request");
    }
  });

  test("a path longer than any job's id is a problem too", async () => {
    const response = await app().inject({ url: `/jobs/email/${"x".repeat(10_000)}`, headers: bearer });
    expectProblem(response, 414, "bad_request");
  });
});

describe("the log", () => {
  test("holds one line per request, without the query and without the payload", async () => {
    const before = app().logged.length;
    const query = "?token=MARKER";
    await app().inject({
      method: "POST",
      url: `/jobs/email/sendEmail${query}`,
      headers: bearer,
      payload: { data: mail },
    });
    await app().inject({ method: "POST", url: `/jobs/email/nope${query}`, headers: bearer, payload: { data: mail } });
    const lines = app().logged.slice(before);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, method: "POST", path: "/jobs/email/sendEmail", status: 202, durationMs: expect.any(Number) },
      { level: 30, method: "POST", path: "/jobs/email/nope", status: 404 },
    ]);
    expect(lines.join("")).not.toContain("MARKER");
  });

  test("holds no line for a probe", async () => {
    const before = app().logged.length;
    await app().inject({ url: "/livez" });
    await app().inject({ url: "/readyz" });
    expect(app().logged.slice(before)).toEqual([]);
  });
});

describe("the probes", () => {
  test("answer while everything is there", async () => {
    const [live, ready] = [await app().inject({ url: "/livez" }), await app().inject({ url: "/readyz" })];
    expect([live.statusCode, live.json()]).toEqual([200, { status: "ok" }]);
    expect([ready.statusCode, ready.json()]).toMatchObject([
      200,
      { status: "ok", redis: "ok", database: "ok", files: "ok", queues: { email: { status: "healthy" } } },
    ]);
  });

  test("say that a server is closing, to whoever still asks it", async () => {
    const closing = await createTestApp();
    let answer: unknown;
    closing.addHook("preClose", async () => {
      const ready = await fetch(`${origin}/readyz`);
      answer = [ready.status, ready.headers.get("connection"), await ready.json()];
    });
    const origin = await closing.listen({ host: "127.0.0.1", port: 0 });
    await closing.close();
    expect(answer).toMatchObject([503, "close", { status: "draining", redis: "ok" }]);
  });

  test("say so when the database is gone, and jobs are taken all the same", async () => {
    const database = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
    const without = await createTestApp({ database });
    const ready = await without.inject({ url: "/readyz" });
    expect([ready.statusCode, ready.json()]).toMatchObject([
      200,
      { status: "degraded", redis: "ok", database: "unavailable" },
    ]);
    const url = "/jobs/email/sendEmail";
    const added = await without.inject({ method: "POST", url, headers: bearer, payload: { data: mail } });
    expect(added.statusCode).toBe(202);
    await without.close();
    await database.close();
  });
});
