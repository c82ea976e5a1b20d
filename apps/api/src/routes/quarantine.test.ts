import { createApiKey } from "@millrace/access";
import { listAuditEntries } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { expect, test } from "vitest";
import { putIntoQuarantine } from "../../../../packages/job-admin/test/quarantined-jobs.ts";
import { bearer, expectProblem, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));
const ask = (method: "GET" | "DELETE", url: string) => app().inject({ method, url, headers: bearer });

test("what lies in quarantine is listed without its record, read with it up to a bound, and discarded, and who did so is known", async () => {
  const data = `{bad MARKER ${"ж".repeat(100)}`;
  await putIntoQuarantine("email", {
    jobId: "bad",
    quarantinedAt: 1_700_000_001_000,
    fields: { name: "sendEmail", data },
  });
  await putIntoQuarantine("webhook", "unreadable");
  const list = await ask("GET", "/quarantine");
  expect(list.json()).toMatchObject({
    items: [
      { queue: "email", jobId: "bad", reason: "corrupt", quarantinedAt: "2023-11-14T22:13:21.000Z" },
      { queue: "webhook", jobId: "unreadable", reason: "corrupt", quarantinedAt: null },
    ],
    nextCursor: null,
  });
  expect(list.body).not.toContain("MARKER");
  expect((await ask("GET", "/quarantine?queue=webhook")).json().items).toHaveLength(1);
  expectProblem(await ask("GET", "/quarantine?cursor=email"), 400, "invalid_request");

  const whole = { queue: "email", jobId: "bad", kind: null, fields: { name: "sendEmail", data }, binaryFields: {} };
  expect((await ask("GET", "/quarantine/email/bad")).json()).toMatchObject({ ...whole, cutFields: {} });
  // Half a letter at the cut is left out.
  expect((await ask("GET", "/quarantine/email/bad?maxFieldBytes=13")).json()).toMatchObject({
    fields: { name: "sendEmail", data: "{bad MARKER " },
    cutFields: { data: Buffer.byteLength(data) },
  });
  expect((await ask("GET", "/quarantine/webhook/unreadable")).json()).toMatchObject({ fields: { entry: "{" } });

  expect((await ask("DELETE", "/quarantine/email/bad")).statusCode).toBe(204);
  expectProblem(await ask("DELETE", "/quarantine/email/bad"), 404, "not_quarantined");
  expectProblem(await ask("GET", "/quarantine/email/bad"), 404, "not_quarantined");
  expect((await ask("DELETE", "/quarantine/webhook/unreadable")).statusCode).toBe(204);
  const rows = async (action: string) =>
    (await listAuditEntries(database(), { limit: 10, action })).map(({ outcome }) => outcome);
  await expect.poll(() => rows("quarantine.discard")).toEqual(["done", "refused", "done"]);
  await expect.poll(() => rows("quarantine.read")).toEqual(["refused", "done", "done", "done"]);
});

test("a job in quarantine says so to whoever reads or operates it, and where it is to be seen; to a workspace's key it is unknown", async () => {
  const fields = { name: "sendEmail", data: JSON.stringify({ type: "sendEmail", data: { workspaceId: "ws-1" } }) };
  await putIntoQuarantine("email", { jobId: "a b", fields });
  const { key } = await createApiKey({ name: "ws-1", role: "operator", workspaceId: "ws-1" });
  const tenant = { authorization: `Bearer ${key}` };
  const job = "/jobs/email/a%20b";
  const read = await ask("GET", job);
  expect(read.json()).toMatchObject({ status: "failed", error: { code: "quarantined" } });
  expectProblem(await app().inject({ url: job, headers: tenant }), 404, "unknown_job");
  for (const { method, url } of [
    { method: "POST", url: `${job}/cancel` },
    { method: "POST", url: `${job}/retry` },
    { method: "POST", url: `${job}/promote` },
    { method: "POST", url: "/dead-letters/email/a%20b/replay" },
    { method: "DELETE", url: job },
  ] as const) {
    const refused = await app().inject({ method, url, headers: bearer });
    expectProblem(refused, 409, "quarantined");
    expect(refused.json().detail).toContain("GET /quarantine/email/a%20b ");
    expectProblem(await app().inject({ method, url, headers: tenant }), 404, "unknown_job");
  }
  expect((await ask("DELETE", "/quarantine/email/a%20b")).statusCode).toBe(204);
});
