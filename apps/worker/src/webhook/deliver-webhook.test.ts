import {
  connectDatabase,
  findWebhookDelivery,
  findWebhookEndpoint,
  rotateWebhookSecret,
  type WebhookEndpoint,
} from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { createSafeClient } from "@millrace/safe-http";
import { createWebhookSecret, verifyWebhook } from "@millrace/webhooks";
import { webhookContract, webhookDeliveryId } from "@millrace/worker-config/contracts";
import type { JobContext } from "@millrace/worker-host";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { createDeliverWebhook, type DeliverWebhookParts } from "./deliver-webhook.ts";
import { useWebhookParts, webhookContext } from "./test/domain.ts";
import { startReceiver, type TestReceiver } from "./test/receiver.ts";

const { database } = useDatabase();
const { parts, limits, endpoint } = useWebhookParts(database);
const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
let receiver: TestReceiver;

beforeAll(async () => {
  receiver = await startReceiver(async ({ path }, response) => {
    const [, status = "", retryAfter] = path.split("/");
    if (status === "silent") return;
    if (status === "forgetful") await sql`alter table webhook_deliveries rename to gone`.execute(database());
    if (retryAfter) response.setHeader("retry-after", decodeURIComponent(retryAfter));
    if (status.startsWith("3")) response.setHeader("location", "/200");
    response.writeHead(Number(status) || 200).end(`SECRET answer of ${path}`);
  });
});

let events = 0;
/** Delivers one event of its own, unless `data` says otherwise. */
async function deliver(
  { id: endpointId }: Pick<WebhookEndpoint, "id">,
  {
    data = {},
    context = {},
    ...overrides
  }: Partial<DeliverWebhookParts> & { data?: object; context?: Partial<JobContext> } = {},
) {
  events += 1;
  const fields = { endpointId, event: "order.paid", eventId: `evt_${events}`, payload: { total: "49.90" }, ...data };
  const parsed = webhookContract.actions.deliverWebhook.data.parse(fields);
  const deliveryId = parsed.deliveryId ?? webhookDeliveryId(parsed.eventId, endpointId);
  const settled = await createDeliverWebhook(parts(overrides))(parsed, webhookContext(context)).then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  const row = await findWebhookDelivery(overrides.database ? database() : parts().database, deliveryId);
  return { ...settled, row, deliveryId, eventId: parsed.eventId };
}

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
  ["/429/90", { failureKind: "rate_limited", code: "endpoint_busy", retryAfterMs: 90_000 }, "pending"],
  ["/429/0", { failureKind: "rate_limited", code: "endpoint_busy", retryAfterMs: 1_000 }, "pending"],
  ["/503/999999", { failureKind: "rate_limited", code: "endpoint_busy", retryAfterMs: 3_600_000 }, "pending"],
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

test("without leave to reach private networks nothing is sent to one", async () => {
  const { error } = await deliver(await endpoint(receiver.url("/private")), { request: createSafeClient() });
  expect(error).toMatchObject({ failureKind: "permanent", code: "address_refused" });
  expect(receiver.received("/private")).toEqual([]);
});

test("an endpoint that is gone is disabled, and the next delivery to it is skipped and kept", async () => {
  const { id } = await endpoint(receiver.url("/410/once"));
  await deliver({ id });
  expect(await findWebhookEndpoint(database(), id)).toMatchObject({ state: "disabled", stateReason: "gone" });
  const { error, row } = await deliver({ id });
  expect(error).toMatchObject({ isSkip: true, code: "endpoint_disabled" });
  expect(row).toMatchObject({
    status: "skipped",
    errorCode: "endpoint_disabled",
    attempts: 0,
    payload: '{"total":"49.90"}',
  });
  expect(receiver.received("/410/once")).toHaveLength(1);
  const unknown = await deliver({ id: crypto.randomUUID() });
  expect(unknown.error).toMatchObject({ isSkip: true, code: "endpoint_unknown" });
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

test("an endpoint that has failed for long is paused, and its owner is told once", async () => {
  const { id } = await endpoint(receiver.url("/500/long"), { ownerEmail: "ada@example.com" });
  await deliver({ id });
  expect((await findWebhookEndpoint(database(), id))?.state).toBe("active");
  await sql`update webhook_endpoints set failing_since = now() - interval '61 seconds' where id = ${id}`.execute(
    database(),
  );
  const mails: unknown[][] = [];
  const enqueue: JobContext["enqueue"] = async (...mail) => {
    mails.push(mail.slice(1));
    return { status: "created", jobId: "mail" };
  };
  // The second one was under way when the first one paused the endpoint.
  await Promise.all([deliver({ id }, { context: { enqueue } }), deliver({ id }, { context: { enqueue } })]);
  expect(await findWebhookEndpoint(database(), id)).toMatchObject({ state: "paused", stateReason: "failing" });
  const text = expect.stringContaining(receiver.url("/500/long"));
  expect(mails[0]).toEqual([
    "sendEmail",
    { to: "ada@example.com", subject: "Your webhook endpoint is paused", text },
    { jobId: expect.stringMatching(/^webhook-paused-/) },
  ]);
  expect(new Set(mails.map(([, , options]) => JSON.stringify(options))).size).toBe(1);
  expect((await deliver({ id }, { context: { enqueue } })).error).toMatchObject({
    isSkip: true,
    code: "endpoint_paused",
  });
});

test("a success in between ends the failing", async () => {
  const { id } = await endpoint(receiver.url("/200/well"));
  await sql`update webhook_endpoints set failing_since = now() - interval '1 day' where id = ${id}`.execute(database());
  await deliver({ id });
  expect(await findWebhookEndpoint(database(), id)).toMatchObject({ state: "active", failingSince: undefined });
});

test("a host that is busy with us, or was called too often, puts the delivery off and does not count as failing", async () => {
  const { id } = await endpoint(receiver.url("/200/limits").replace("127.0.0.1", "localhost"));
  const hostLimits = limits({ perSecond: 1, concurrency: 1 });
  expect((await deliver({ id }, { hostLimits })).error).toBeUndefined();
  const early = await deliver({ id }, { hostLimits });
  expect(early.error).toMatchObject({
    failureKind: "rate_limited",
    code: "host_rate",
    retryAfterMs: expect.any(Number),
  });
  expect(early.row).toMatchObject({ status: "pending", attempts: 0 });
  const inside = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const options = { signal: new AbortController().signal, patienceMs: 5_000 };
  const holding = hostLimits.take("localhost", "holder", options, async () => {
    inside.resolve();
    await leave.promise;
  });
  await inside.promise;
  expect((await deliver({ id }, { hostLimits })).error).toMatchObject({
    failureKind: "contention",
    code: "semaphore_full",
  });
  leave.resolve();
  await holding;
  expect((await findWebhookEndpoint(database(), id))?.failingSince).toBeUndefined();
});

test("a database that is away puts the delivery off, and one that goes away meanwhile does not have it sent again", async () => {
  const target = await endpoint(receiver.url("/forgetful"));
  const away = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
  expect((await deliver(target, { database: away })).error).toMatchObject({
    failureKind: "contention",
    code: "database_unavailable",
  });
  await away.close();
  const data = { endpointId: target.id, event: "order.paid", eventId: "evt_forgetful", payload: {} };
  const delivered = await createDeliverWebhook(parts())(data, webhookContext());
  await sql`alter table gone rename to webhook_deliveries`.execute(database());
  expect(delivered).toMatchObject({ status: 200 });
  expect(await findWebhookDelivery(database(), delivered.deliveryId)).toMatchObject({ status: "pending" });
});

test("a job that is a day old is put off no more, since the host would end it: the deferral uses up an attempt", async () => {
  const createdAt = new Date(Date.now() - 24 * 3_600_000);
  const { error } = await deliver(await endpoint(receiver.url("/429/60")), { context: { createdAt } });
  expect(error).toMatchObject({ failureKind: "transient", code: "endpoint_busy" });
});
