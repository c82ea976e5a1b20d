import { createHash, randomUUID } from "node:crypto";
import { useDatabase } from "@millrace/database/testing";
import { writeCursor } from "@millrace/page-cursor";
import { expect, test } from "vitest";
import { bearer, expectProblem, useTestApp } from "../test/test-app.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));
const ask = (url: string, cursor: string) => app().inject({ url, headers: bearer, query: { cursor } });

// What the cursors of `/jobs` say of a search for nothing in particular.
const search = createHash("sha256").update("{}").digest("base64url").slice(0, 8);

/** Every list, with a cursor that is one of its own. */
const lists: Readonly<Record<string, readonly unknown[]>> = {
  "/agent/approvals": ["agent-approvals", "1"],
  "/agent/runs": ["agent-runs", "aiAgent-1"],
  "/audit": ["audit", "1"],
  "/dead-letters": [1, "email", "a"],
  "/email/suppressions": ["email-suppressions", "ada@example.com"],
  "/email/templates": ["email-templates", { id: "welcome" }],
  "/jobs": [search, "active", "email", 0, "a"],
  "/jobs/failed": [1, "email", "a"],
  "/keys": ["keys", "0123456789abcdef"],
  "/quarantine": [null, "email", "0"],
  "/schedules": ["schedules", "sweep-queues"],
  "/webhooks/endpoints": ["webhook-endpoints", randomUUID()],
  "/webhooks/endpoints/{id}/deliveries": ["webhook-deliveries", "1"],
};
const addressOf = (path: string) => path.replace("{id}", randomUUID());

test("every list takes a cursor of its own, and refuses any other as such", async () => {
  const { paths } = (await app().inject({ url: "/openapi.json", headers: bearer })).json();
  const paged = Object.keys(paths).filter((path) =>
    paths[path].get?.parameters?.some(({ name }: { name: string }) => name === "cursor"),
  );
  expect(paged.toSorted()).toEqual(Object.keys(lists).toSorted());
  for (const [path, parts] of Object.entries(lists)) {
    const others = Object.values(lists)
      .map(writeCursor)
      .filter((other) => other !== writeCursor(parts));
    for (const wrong of ["", "MARKER", "\0", `${writeCursor(parts)}${"A".repeat(3_000)}`, ...others]) {
      const refused = await ask(addressOf(path), wrong);
      expectProblem(refused, 400, "invalid_request");
      expect(refused.json().errors.map((error: { path: string }) => error.path)).toContain("cursor");
    }
    const { statusCode } = await ask(addressOf(path), writeCursor(parts));
    expect(statusCode, path).toBe(path.includes("{id}") ? 404 : 200);
  }
});
