import { beginWebhookDelivery, connectDatabase, findWebhookEndpoint, recordWebhookAttempt } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { webhookQueue } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { bearer, createTestApp, expectProblem, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const endpoint = { url: "https://example.com/hooks", events: ["order.*"], ownerEmail: "ada@example.com" };
const nowhere = "00000000-0000-4000-8000-00000000dead";
const app = useTestApp(() => ({ database: database() }));

afterAll(async () => {
  await webhookQueue.obliterate({ force: true });
});
function ask(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, payload?: object) {
  return app().inject({ method, url: `/webhooks${path}`, headers: bearer, ...(payload && { payload }) });
}

async function register(overrides: object = {}): Promise<{ id: string; secret: string }> {
  const response = await ask("POST", "/endpoints", { ...endpoint, ...overrides });
  expect(response.statusCode).toBe(201);
  return response.json();
}

test("an endpoint is registered, read, changed and removed, and its secret is shown once", async () => {
  const { id, secret, ...shown } = await register();
  expect(shown).toMatchObject({ ...endpoint, state: "active", workspaceId: null, failingSince: null });
  expect(secret).toMatch(/^whsec_/);
  const read = await ask("GET", `/endpoints/${id}`);
  expect(read.json()).toEqual({ id, ...shown });
  const changed = await ask("PATCH", `/endpoints/${id}`, { events: ["*"], ownerEmail: null });
  expect(changed.json()).toEqual({ id, ...shown, events: ["*"], ownerEmail: null });
  expect((await ask("DELETE", `/endpoints/${id}`)).statusCode).toBe(204);
  expectProblem(await ask("GET", `/endpoints/${id}`), 404, "unknown_endpoint");
  expect(app().logged.join("")).not.toContain(secret);
});

test("a rotated secret is another one, and the one before is valid for the time that was asked for", async () => {
  const { id, secret } = await register();
  const rotated = await ask("POST", `/endpoints/${id}/rotate-secret`, { overlapMs: 60_000 });
  expect(rotated.json().secret).not.toBe(secret);
  expect((await findWebhookEndpoint(database(), id))?.secrets).toEqual([rotated.json().secret, secret]);
  const again = await ask("POST", `/endpoints/${id}/rotate-secret`);
  expect(Date.parse(again.json().previousSecretExpiresAt) - Date.now()).toBeGreaterThan(86_000_000);
});

test("the endpoints of a workspace come page by page", async () => {
  const workspaceId = crypto.randomUUID();
  const ids = [];
  for (let count = 0; count < 3; count++) ids.push((await register({ workspaceId })).id);
  const first = (await ask("GET", `/endpoints?workspaceId=${workspaceId}&limit=2`)).json();
  const second = (await ask("GET", `/endpoints?workspaceId=${workspaceId}&limit=2&cursor=${first.nextCursor}`)).json();
  const listed = [...first.items, ...second.items].map(({ id }: { id: string }) => id);
  expect([listed, second.nextCursor]).toEqual([ids.sort(), null]);
});

test("a paused endpoint takes no test and no resend until it is resumed", async () => {
  const { id } = await register();
  expect((await ask("POST", `/endpoints/${id}/pause`)).json()).toMatchObject({
    state: "paused",
    stateReason: "manual",
  });
  expectProblem(await ask("POST", `/endpoints/${id}/test`), 409, "endpoint_not_active");
  expect((await ask("POST", `/endpoints/${id}/resume`)).json()).toMatchObject({ state: "active", stateReason: null });
  const added = await ask("POST", `/endpoints/${id}/test`);
  expect(added.statusCode).toBe(202);
  const job = await webhookQueue.getJob(added.json().jobId);
  expect(job?.data).toMatchObject({ type: "deliverWebhook", data: { endpointId: id, event: "webhook.test" } });
});

test("deliveries are listed newest first with what came of them, and one is sent again as it was", async () => {
  const { id: endpointId } = await register({ workspaceId: nowhere });
  const occurredAt = new Date("2026-03-01T12:00:00Z");
  const event = { event: "order.paid", eventId: "evt_1", occurredAt };
  for (const id of ["evt_1.a", "evt_1.b"]) {
    await beginWebhookDelivery(database(), { id, endpointId, ...event, payload: '{"total":"49.90"}', jobId: id });
  }
  const answer = { httpStatus: 500, durationMs: 12, excerpt: "oops", errorCode: "endpoint_failed" };
  await recordWebhookAttempt(database(), "evt_1.a", { status: "failed", ...answer });
  const first = (await ask("GET", `/endpoints/${endpointId}/deliveries?limit=1`)).json();
  expect(first.items).toMatchObject([{ id: "evt_1.b", status: "pending", attempts: 0, finishedAt: null }]);
  const { items: deliveries } = (
    await ask("GET", `/endpoints/${endpointId}/deliveries?cursor=${first.nextCursor}`)
  ).json();
  expect(deliveries).toMatchObject([{ id: "evt_1.a", status: "failed", attempts: 1, ...answer }]);

  const { deliveryId, jobId } = (await ask("POST", "/deliveries/evt_1.a/resend")).json();
  const job = await webhookQueue.getJob(jobId);
  const resent = { ...event, occurredAt: occurredAt.toISOString(), payload: { total: "49.90" } };
  expect(job?.data.data).toEqual({ ...resent, endpointId, deliveryId, workspaceId: nowhere });
  expect(job?.opts.attempts).toBe(10);
});

test.each([
  ["an address of its own network", { url: "http://169.254.169.254/latest" }, "url"],
  ["an address in another form", { url: "http://0x7f000001/" }, "url"],
  ["another scheme", { url: "file:///etc/passwd" }, "url"],
  ["a password in the URL", { url: "https://user:MARKER@example.com/" }, "url"],
  ["no event", { events: [] }, "events"],
  ["an event that is none", { events: ["order."] }, "events.0"],
  ["a field that does not exist", { secret: "MARKER" }, ""],
])("%s is refused, and the field is named", async (_, wrong, path) => {
  const response = await ask("POST", "/endpoints", { ...endpoint, ...wrong });
  expectProblem(response, 400, "invalid_request");
  expect(response.json().errors[0].path).toBe(path);
});

test("NUL, which no record can hold, is the caller's mistake wherever it stands", async () => {
  const { id } = await register();
  expectProblem(await ask("POST", "/endpoints", { ...endpoint, url: `${endpoint.url}/\0` }), 400, "invalid_request");
  expectProblem(await ask("POST", "/endpoints", { ...endpoint, description: "\0" }), 400, "invalid_request");
  expectProblem(await ask("PATCH", `/endpoints/${id}`, { description: "\0" }), 400, "invalid_request");
  expectProblem(await ask("POST", "/deliveries/%00/resend"), 400, "invalid_request");
  for (const query of ["address=%00", "cursor=%00"]) {
    const response = await app().inject({ url: `/email/suppressions?${query}`, headers: bearer });
    expectProblem(response, 400, "invalid_request");
  }
  const lifted = await app().inject({ method: "DELETE", url: "/email/suppressions?address=a%00", headers: bearer });
  expectProblem(lifted, 400, "invalid_request");
});

test.each([
  ["GET", `/endpoints/${nowhere}`],
  ["PATCH", `/endpoints/${nowhere}`],
  ["DELETE", `/endpoints/${nowhere}`],
  ["POST", `/endpoints/${nowhere}/rotate-secret`],
  ["POST", `/endpoints/${nowhere}/pause`],
  ["POST", `/endpoints/${nowhere}/resume`],
  ["POST", `/endpoints/${nowhere}/test`],
  ["GET", `/endpoints/${nowhere}/deliveries`],
] as const)("%s %s says that there is none", async (method, path) => {
  expectProblem(await ask(method, path, method === "PATCH" ? {} : undefined), 404, "unknown_endpoint");
});

test("an unknown delivery and an id that is none are told apart", async () => {
  expectProblem(await ask("POST", "/deliveries/nope/resend"), 404, "unknown_delivery");
  expectProblem(await ask("GET", "/endpoints/nope"), 400, "invalid_request");
});

test("while the database is away these routes say so, jobs are still added, and readiness names it", async () => {
  const away = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
  const lonely = await createTestApp({ database: away });
  const read = await lonely.inject({ url: "/webhooks/endpoints", headers: bearer });
  expectProblem(read, 503, "database_unavailable");
  const data = { event: "order.paid", eventId: "evt_lonely", payload: {} };
  const url = "/jobs/webhook/dispatchEvent";
  expect((await lonely.inject({ method: "POST", url, headers: bearer, payload: { data } })).statusCode).toBe(202);
  const ready = await lonely.inject({ url: "/readyz" });
  expect([ready.statusCode, ready.json()]).toMatchObject([
    200,
    { status: "degraded", redis: "ok", database: "unavailable" },
  ]);
  await lonely.close();
  await away.close();
});
