import { createApiKey } from "@millrace/access";
import { connectDatabase, listAuditEntries } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { expect, test } from "vitest";
import { bearer, createTestApp, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));

const addDelayed = () => enqueue(emailContract, "sendEmail", mail, { delayMs: 3_600_000 });
const entriesOf = (action: string) => listAuditEntries(database(), { limit: 50, action });

test("what an operator does is written down: who, what, to which job, how it ended and by which request, and no payload", async () => {
  const { key, apiKey } = await createApiKey({ name: "Ada", role: "operator" });
  const { jobId } = await addDelayed();
  const cancel = { method: "POST", url: `/jobs/email/${jobId}/cancel?note=MARKER` } as const;
  const response = await app().inject({ ...cancel, headers: { authorization: `Bearer ${key}` } });
  await expect.poll(async () => (await entriesOf("job.cancel"))[0]?.outcome).toBe("done");
  const answer = await app().inject({ url: `/audit?action=job.cancel&keyId=${apiKey.id}`, headers: bearer });
  expect(answer.json()).toMatchObject({
    items: [
      {
        keyId: apiKey.id,
        keyName: "Ada",
        workspaceId: null,
        target: { queue: "email", jobId },
        requestId: response.headers["x-request-id"],
        status: 200,
        details: { children: 0 },
      },
    ],
    nextCursor: null,
  });
  expect(answer.body).not.toMatch(new RegExp(`MARKER|${key}`));
});

test("what there was nothing to do about is written down as refused", async () => {
  await app().inject({ method: "POST", url: "/jobs/email/nobody/cancel", headers: bearer });
  await expect.poll(async () => (await entriesOf("job.cancel"))[0]).toMatchObject({ outcome: "refused", status: 404 });
});

test("what its handler turned away, since too many wait, is written down as refused", async () => {
  const full = await createTestApp({ database: database(), waitLimits: { total: 0 } });
  const url = "/jobs/schedule/sweepFileStore?waitMs=1000";
  const response = await full.inject({ method: "POST", url, headers: bearer, payload: { data: {} } });
  expectProblem(response, 503, "too_many_waits");
  const row = expect.poll(async () => (await entriesOf("housekeeping.enqueue"))[0]);
  await row.toMatchObject({ outcome: "refused", status: 503, requestId: response.headers["x-request-id"] });
  await full.close();
});

test("without a database that takes the row an operator's action does not happen, and looking and enqueueing go on", async () => {
  const away = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
  const without = await createTestApp({ database: away });
  const { jobId } = await addDelayed();
  const url = `/jobs/email/${jobId}`;
  const refused = await without.inject({ method: "POST", url: `${url}/cancel`, headers: bearer });
  expectProblem(refused, 503, "audit_unavailable");
  expect(refused.headers["retry-after"]).toBe("2");
  expect(await (await emailQueue.getJob(jobId))?.getState()).toBe("delayed");
  expect((await without.inject({ url, headers: bearer })).statusCode).toBe(200);
  const { key } = await createApiKey({ name: "shop", role: "producer" });
  const headers = { authorization: `Bearer ${key}` };
  const payload = { data: mail };
  const added = await without.inject({ method: "POST", url: "/jobs/email/sendEmail", headers, payload });
  expect(added.statusCode).toBe(202);
  await without.close();
  await away.close();
});

test("a key is made, used, listed and revoked through the API, and the audit log knows its name and not the key", async () => {
  const payload = { name: "Warehouse", role: "viewer", workspaceId: "ws-1" };
  const made = (await app().inject({ method: "POST", url: "/keys", headers: bearer, payload })).json();
  const headers = { authorization: `Bearer ${made.key}` };
  expect((await app().inject({ url: "/schedules?workspaceId=ws-1", headers })).statusCode).toBe(200);
  const list = await app().inject({ url: "/keys?limit=200", headers: bearer });
  expect(list.json().items).toContainEqual(expect.objectContaining({ id: made.id, name: "Warehouse", role: "viewer" }));
  expect(list.body).not.toContain(made.key);
  const url = `/keys/${made.id}`;
  expect((await app().inject({ method: "DELETE", url, headers: bearer })).statusCode).toBe(204);
  expectProblem(await app().inject({ method: "DELETE", url, headers: bearer }), 404, "unknown_key");
  const other = await createTestApp({ database: database() });
  expectProblem(await other.inject({ url: "/schedules", headers }), 401, "unauthorized");
  await other.close();
  await expect
    .poll(async () => (await entriesOf("key.create"))[0])
    .toMatchObject({ target: {}, details: { id: made.id, ...payload } });
  expect(app().logged.join("")).not.toContain(made.key);
});

test("what the house was told to do says what, and which job it became", async () => {
  const url = "/jobs/schedule/purgeDeadLetters";
  const payload = { data: { dryRun: true }, options: { delayMs: 3_600_000 } };
  const { jobId } = (await app().inject({ method: "POST", url, headers: bearer, payload })).json();
  const entry = expect.poll(async () => (await entriesOf("housekeeping.enqueue"))[0]);
  await entry.toMatchObject({
    outcome: "done",
    details: { queue: "schedule", action: "purgeDeadLetters", jobId, status: "created" },
  });
});
