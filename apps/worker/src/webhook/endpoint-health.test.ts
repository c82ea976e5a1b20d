import { connectDatabase, findWebhookDelivery, findWebhookEndpoint } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import type { JobContext } from "@millrace/worker-host";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import { createDeliverWebhook } from "./deliver-webhook.ts";
import { useWebhookDomain, webhookContext } from "./test/domain.ts";
import { startReceiver, type TestReceiver } from "./test/receiver.ts";

const { database } = useDatabase();
const { parts, limits, endpoint, deliver } = useWebhookDomain(database);
let receiver: TestReceiver;

beforeAll(async () => {
  receiver = await startReceiver(async ({ path }, response) => {
    const [, status] = path.split("/");
    if (status === "forgetful") await sql`alter table webhook_deliveries rename to gone`.execute(database());
    if (status === "429") response.setHeader("retry-after", "60");
    response.writeHead(Number(status) || 200).end();
  });
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
  const crowded = limits({ perSecond: 1_000, concurrency: 1 });
  const other = await endpoint(receiver.url("/200/limits"));
  const holding = crowded.take("127.0.0.1", "holder", new AbortController().signal, async () => {
    inside.resolve();
    await leave.promise;
  });
  await inside.promise;
  expect((await deliver(other, { hostLimits: crowded })).error).toMatchObject({
    failureKind: "contention",
    code: "semaphore_full",
  });
  leave.resolve();
  await holding;
  expect((await findWebhookEndpoint(database(), id))?.failingSince).toBeUndefined();
});

test("a visitor of a host that is full is given a turn first, so that those who wait have an order", async () => {
  const { signal } = new AbortController();
  const hostLimits = limits({ perSecond: 1, concurrency: 1 });
  const visit = (visitor: string): Promise<unknown> =>
    hostLimits.take("full.example", visitor, signal, async () => visitor === "first" && (await visit("second")));
  await expect(visit("first")).rejects.toMatchObject({ code: "host_rate", retryAfterMs: expect.any(Number) });
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
