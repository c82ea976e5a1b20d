import { findWebhookEndpoint, rotateWebhookSecret } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { createSafeClient } from "@millrace/safe-http";
import { createWebhookSecret, verifyWebhook } from "@millrace/webhooks";
import { beforeAll, expect, test } from "vitest";
import { useWebhookDomain } from "./test/domain.ts";
import { startReceiver, type TestReceiver } from "./test/receiver.ts";

const { database } = useDatabase();
const { endpoint, deliver } = useWebhookDomain(database);
const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
let receiver: TestReceiver;

beforeAll(async () => {
  receiver = await startReceiver(({ path }, response) => {
    const [, status = "", retryAfter] = path.split("/");
    if (status === "silent") return;
    if (retryAfter) response.setHeader("retry-after", decodeURIComponent(retryAfter));
    if (status.startsWith("3")) response.setHeader("location", "/200");
    response.writeHead(Number(status)).end(`SECRET answer of ${path}`);
  });
});

test("a delivery arrives signed by both secrets, with its event, and what the endpoint answered is kept", async () => {
  const { id, secrets } = await endpoint(receiver.url("/200/"));
  const next = createWebhookSecret();
  await rotateWebhookSecret(database(), id, { secret: next, overlapMs: 60_000 });
  const { result, row, deliveryId, eventId } = await deliver(
    { id },
    { data: { occurredAt: "2026-03-01T13:00:00+01:00" } },
  );
  const [webhook] = receiver.received("/200/");
  if (!webhook) throw new Error("expected a webhook");
  for (const secret of [next, ...secrets])
    expect(verifyWebhook(webhook.headers, webhook.body, secret).id).toBe(eventId);
  expect(webhook.headers).toMatchObject({
    "content-type": "application/json",
    "x-webhook-event": "order.paid",
    "x-webhook-delivery": deliveryId,
  });
  expect(JSON.parse(webhook.body)).toEqual({
    type: "order.paid",
    timestamp: "2026-03-01T12:00:00.000Z",
    data: { total: "49.90" },
  });
  expect(result).toEqual({ deliveryId, status: 200, durationMs: row?.durationMs });
  expect(row).toMatchObject({ status: "success", httpStatus: 200, attempts: 1, excerpt: "SECRET answer of /200/" });
});

test.each([
  ["/204", undefined, "success"],
  ["/302", { failureKind: "transient", code: "endpoint_redirected" }, "pending"],
  ["/400", { failureKind: "transient", code: "endpoint_refused" }, "pending"],
  ["/500", { failureKind: "transient", code: "endpoint_failed" }, "pending"],
  ["/503", { failureKind: "transient", code: "endpoint_failed" }, "pending"],
  ["/500/5", { failureKind: "transient", code: "endpoint_failed" }, "pending"],
  ["/429/90", { failureKind: "transient", code: "endpoint_busy", retryAfterMs: 90_000 }, "pending"],
  ["/429/0", { failureKind: "transient", code: "endpoint_busy", retryAfterMs: 1_000 }, "pending"],
  ["/503/999999", { failureKind: "transient", code: "endpoint_busy", retryAfterMs: 3_600_000 }, "pending"],
  ["/429/soon", { failureKind: "transient", code: "endpoint_refused" }, "pending"],
  ["/410", { failureKind: "permanent", code: "endpoint_gone" }, "failed"],
])("an endpoint that answers %s is told apart", async (path, expected, status) => {
  const { error, row } = await deliver(await endpoint(receiver.url(path)));
  if (expected) expect(error).toMatchObject(expected);
  else expect(error).toBeUndefined();
  expect(String(error)).not.toContain("SECRET");
  expect(row).toMatchObject({ status, attempts: 1, httpStatus: Number(path.split("/")[1]) });
  expect(row?.errorCode).toBe(expected?.code);
});

test("a date in Retry-After is waited for", async () => {
  const { error } = await deliver(await endpoint(receiver.url(`/503/${encodeURIComponent(inAnHour())}`)));
  expect(error).toMatchObject({ code: "endpoint_busy", retryAfterMs: expect.closeTo(3_599_000, -4) });
});

test("the last attempt that fails fails the delivery", async () => {
  const { row } = await deliver(await endpoint(receiver.url("/500")), { context: { isFinalAttempt: true } });
  expect(row?.status).toBe("failed");
});

test.each([
  ["nobody listens", "http://127.0.0.1:1024/", { failureKind: "transient", code: "connection_failed" }],
  ["it is silent", "/silent", { failureKind: "transient", code: "timeout" }],
  ["its address is not public", "http://169.254.169.254/", { failureKind: "permanent", code: "address_refused" }],
  ["its URL is none", "nowhere", { failureKind: "permanent", code: "url_refused" }],
  ["its URL holds a password", "http://user:secret@example.com/", { failureKind: "permanent", code: "url_refused" }],
])("an endpoint without an answer because %s is told apart", async (_, url, expected) => {
  const { id } = await endpoint(url.startsWith("/") ? receiver.url(url) : url);
  const { error, row } = await deliver({ id }, { timeoutMs: 200 });
  expect(error).toMatchObject(expected);
  expect(String(error)).not.toContain("secret");
  expect(row).toMatchObject({ errorCode: expected.code, httpStatus: undefined, attempts: 1 });
  expect((await findWebhookEndpoint(database(), id))?.failingSince).toBeInstanceOf(Date);
});

test.each([
  ["another workspace's", crypto.randomUUID(), { workspaceId: crypto.randomUUID() }],
  ["a workspace's, in a job of none,", crypto.randomUUID(), {}],
  ["nobody's, in a job of a workspace,", undefined, { workspaceId: crypto.randomUUID() }],
])("an endpoint that is %s hears nothing of it and lists no delivery", async (_, workspaceId, data) => {
  const { error, row } = await deliver(await endpoint(receiver.url("/200/foreign"), { workspaceId }), { data });
  expect(error).toMatchObject({ failureKind: "permanent", code: "endpoint_of_another_workspace" });
  expect([row, receiver.received("/200/foreign")]).toEqual([undefined, []]);
});

test("without leave to reach private networks nothing is sent to one", async () => {
  const { error } = await deliver(await endpoint(receiver.url("/private")), { request: createSafeClient() });
  expect(error).toMatchObject({ failureKind: "permanent", code: "address_refused" });
  expect(receiver.received("/private")).toEqual([]);
});

test("an answer that came counts, though the attempt was ended just then", async () => {
  const target = await endpoint(receiver.url("/200/late"));
  const ending = new AbortController();
  const call = createSafeClient({ allowPrivate: true });
  const request: typeof call = (...asked) => call(...asked).finally(() => ending.abort());
  const { result, row } = await deliver(target, { request, context: { signal: ending.signal } });
  expect(result).toMatchObject({ status: 200 });
  expect(row).toMatchObject({ status: "success", httpStatus: 200, attempts: 1 });
});

test("the same event again calls the endpoint once, with a delivery id of its own it calls it again with the same bytes", async () => {
  const target = await endpoint(receiver.url("/200/twice"));
  const data = { eventId: "evt_twice", occurredAt: "2026-03-01T12:00:00Z" };
  const first = await deliver(target, { data });
  expect((await deliver(target, { data })).result).toEqual(first.result);
  expect(receiver.received("/200/twice")).toHaveLength(1);
  await deliver(target, { data: { ...data, deliveryId: "anew" } });
  const [one, other] = receiver.received("/200/twice");
  expect(other?.body).toBe(one?.body);
  expect(other?.headers).toMatchObject({ "webhook-id": "evt_twice", "x-webhook-delivery": "anew" });
});

test("a delivery id that is another endpoint's is refused, and what is kept of that delivery stays as it was", async () => {
  const data = { deliveryId: "taken" };
  const other = await deliver(await endpoint(receiver.url("/410/owner")), { data });
  expect(other.row).toMatchObject({ status: "failed", httpStatus: 410 });
  const { error, row } = await deliver(await endpoint(receiver.url("/200/stranger")), { data });
  expect(error).toMatchObject({ failureKind: "permanent", code: "delivery_of_another_endpoint" });
  expect([row, receiver.received("/200/stranger")]).toEqual([other.row, []]);
});
