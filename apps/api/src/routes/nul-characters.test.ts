import { useDatabase } from "@millrace/database/testing";
import type { InjectOptions } from "fastify";
import { expect, test } from "vitest";
import { bearer, expectProblem, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const endpoint = { url: "https://example.com/hooks", events: ["*"] };
const app = useTestApp(() => ({ database: database() }));

test.each<[NonNullable<InjectOptions["method"]>, string, object?]>([
  ["POST", "/webhooks/endpoints", { ...endpoint, description: "\0" }],
  ["POST", "/webhooks/endpoints", { ...endpoint, url: `${endpoint.url}/\0` }],
  ["POST", "/webhooks/deliveries/%00/resend"],
  ["GET", "/email/suppressions?address=%00"],
  ["GET", "/email/suppressions?cursor=%00"],
  ["DELETE", "/email/suppressions?address=%00"],
  ["GET", "/agent/runs?cursor=%00"],
  ["GET", "/agent/runs/aiAgent/%00"],
  ["GET", "/email/templates?cursor=a/%00"],
  ["POST", "/email/digest-items", { recipient: "a@b.co", text: "x", link: "http://a/\0" }],
])("a NUL, which PostgreSQL keeps in no text, is the caller's mistake: %s %s", async (method, url, payload) => {
  const response = await app().inject({ method, url, headers: bearer, ...(payload && { payload }) });
  expectProblem(response, 400, "invalid_request");
  expect(app().logged.join("")).not.toContain('"level":50');
});
