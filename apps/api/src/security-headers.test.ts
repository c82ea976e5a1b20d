import { fastify } from "fastify";
import { expect, test } from "vitest";
import { bearer, useTestApp } from "../test/test-app.ts";
import { securityHeaders } from "./security-headers.ts";

const app = useTestApp();

test("a browser keeps no answer, frames none and takes none for a page, whether it is a success, a refusal or nothing at all", async () => {
  const answers = [
    await app().inject({ url: "/schedules", headers: bearer }),
    await app().inject({ url: "/schedules" }),
    await app().inject({ url: "/nope" }),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 401, 404]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
    expect(headers["strict-transport-security"]).toBeUndefined();
  }
});

test("another site's script is let in nowhere: no preflight is answered, and no answer is for it", async () => {
  const origin = "https://elsewhere.example";
  const preflight = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  const url = "/jobs/email/sendEmail";
  const answers = [
    await app().inject({ method: "OPTIONS", url, headers: preflight }),
    await app().inject({ url: "/schedules", headers: { origin, ...bearer } }),
  ];
  expect(answers[0]?.statusCode).toBe(404);
  for (const { headers } of answers) {
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test("browsers are told to insist on TLS where the API is behind it, and what a route says of itself stays", async () => {
  const secured = fastify();
  secured.addHook("onSend", securityHeaders(600));
  secured.get("/", { config: { access: "public" } }, async (_, reply) =>
    reply.header("cache-control", "max-age=60").send("x"),
  );
  expect((await secured.inject("/")).headers).toMatchObject({
    "strict-transport-security": "max-age=600; includeSubDomains",
    "cache-control": "max-age=60",
  });
  await secured.close();
});
