import { sql } from "kysely";
import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import { connectDatabase } from "./connect-database.ts";
import { whenAvailable } from "./database-unavailable.ts";
import {
  beginWebhookDelivery,
  findWebhookDelivery,
  listWebhookDeliveries,
  purgeWebhookDeliveries,
  recordWebhookAttempt,
} from "./webhook-deliveries.ts";
import { moveWebhookEndpoint, recordWebhookFailure, recordWebhookSuccess } from "./webhook-endpoint-health.ts";
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  findWebhookEndpoint,
  listWebhookEndpoints,
  listWebhookSubscribers,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from "./webhook-endpoints.ts";

const { database } = useDatabase();
const create = (overrides: Partial<Parameters<typeof createWebhookEndpoint>[1]> = {}) =>
  createWebhookEndpoint(database(), { url: "https://example.com/hooks", events: ["*"], secret: "first", ...overrides });
const deliver = (endpointId: string, id: string) =>
  beginWebhookDelivery(database(), {
    ...{
      id,
      endpointId,
      event: "order.paid",
      eventId: "evt_1",
      occurredAt: new Date(0),
      payload: '{"a":1}',
      jobId: "job",
    },
  });

test("an event finds the endpoints of its workspace that subscribe to it, page by page, but no disabled one", async () => {
  const workspaceId = "workspace-of-events";
  const ids = [];
  for (const events of [["*"], ["order.paid"], ["order.*"], ["order.paid.*"], ["orders.*"], ["order"]]) {
    ids.push((await create({ workspaceId, events })).id);
  }
  await create({ events: ["*"] });
  const [all = "", exact = "", beginning = "", longer = ""] = ids;
  const subscribers = (event: string, page = {}) =>
    listWebhookSubscribers(database(), { workspaceId, event, limit: 10, ...page });
  expect(await subscribers("order.paid")).toEqual([all, exact, beginning].sort());
  expect(await subscribers("order.paid.eu")).toEqual([all, beginning, longer].sort());
  expect(await subscribers("user")).toEqual([all]);
  const [first] = await subscribers("order.paid", { limit: 1 });
  expect([first, ...(await subscribers("order.paid", { after: first }))]).toEqual([all, exact, beginning].sort());
  await moveWebhookEndpoint(database(), all, { from: ["active"], to: "disabled", reason: "gone" });
  await moveWebhookEndpoint(database(), exact, { from: ["active"], to: "paused", reason: "failing" });
  expect(await subscribers("order.paid")).toEqual([exact, beginning].sort());
});

test("a rotated secret is valid beside the new one until its time is over", async () => {
  const { id } = await create();
  expect((await rotateWebhookSecret(database(), id, { secret: "second", overlapMs: 60_000 }))?.secrets).toEqual([
    "second",
    "first",
  ]);
  expect((await rotateWebhookSecret(database(), id, { secret: "third", overlapMs: 0 }))?.secrets).toEqual(["third"]);
});

test("what is changed is changed, what is not given stays", async () => {
  const { id } = await create({ description: "Shop", ownerEmail: "ada@example.com" });
  await updateWebhookEndpoint(database(), id, { events: ["a"], description: null });
  expect(await updateWebhookEndpoint(database(), id, {})).toMatchObject({
    url: "https://example.com/hooks",
    events: ["a"],
    description: undefined,
    ownerEmail: "ada@example.com",
  });
});

test("failing counts from the first failure, a success ends it, and of several that pause it one does", async () => {
  const { id } = await create();
  const first = await recordWebhookFailure(database(), id);
  expect(first?.failingMs).toBe(0);
  expect((await recordWebhookFailure(database(), id))?.failingSince).toEqual(first?.failingSince);
  await recordWebhookSuccess(database(), id);
  expect((await findWebhookEndpoint(database(), id))?.failingSince).toBeUndefined();
  await recordWebhookFailure(database(), id);
  const pause = () => moveWebhookEndpoint(database(), id, { from: ["active"], to: "paused", reason: "failing" });
  expect((await Promise.all([pause(), pause(), pause()])).filter(Boolean)).toHaveLength(1);
  await moveWebhookEndpoint(database(), id, { from: ["paused"], to: "active" });
  expect(await findWebhookEndpoint(database(), id)).toMatchObject({ state: "active", failingSince: undefined });
});

test("a delivery is kept once with what came of it, newest first, and goes with its endpoint", async () => {
  const { id: endpointId } = await create({ workspaceId: "of-deliveries" });
  expect(await deliver(endpointId, "one")).toMatchObject({ status: "pending" });
  await deliver(endpointId, "two");
  await recordWebhookAttempt(database(), "one", { status: "pending", errorCode: "timeout" });
  const excerpt = `\0${"ü".repeat(3_000)}`;
  await recordWebhookAttempt(database(), "one", { status: "success", httpStatus: 200, durationMs: 5, excerpt });
  // A twin that comes later changes nothing.
  await recordWebhookAttempt(database(), "one", { status: "failed" });
  expect(await deliver(endpointId, "one")).toMatchObject({ status: "success", httpStatus: 200 });
  const [two, one] = await listWebhookDeliveries(database(), { endpointId, limit: 10 });
  expect(one).toMatchObject({ id: "one", attempts: 2, excerpt: "ü".repeat(1_024), errorCode: undefined });
  expect(await listWebhookDeliveries(database(), { endpointId, before: two?.position, limit: 10 })).toEqual([one]);
  expect(await findWebhookDelivery(database(), "one")).toMatchObject({ payload: '{"a":1}' });

  await sql`update webhook_deliveries set created_at = now() - interval '31 days' where id = 'one'`.execute(database());
  expect(await purgeWebhookDeliveries(database(), { olderThanMs: 30 * 86_400_000 })).toBe(1);
  expect(await deleteWebhookEndpoint(database(), endpointId)).toBe(true);
  expect(await findWebhookDelivery(database(), "two")).toBeUndefined();
  expect(await listWebhookEndpoints(database(), { workspaceId: "of-deliveries", limit: 10 })).toEqual([]);
});

test("an outage is told from a query that is wrong", async () => {
  const away = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
  await expect(whenAvailable(() => away.check())).rejects.toMatchObject({
    failureKind: "contention",
    code: "database_unavailable",
  });
  await away.close();
  await expect(whenAvailable(() => findWebhookEndpoint(database(), "no uuid"))).rejects.toMatchObject({
    code: "22P02",
  });
});

test.each(["select * from not_yet_there", "select not_yet_there from webhook_deliveries"])(
  "what a migration has not made yet is an outage, since jobs are taken meanwhile: %s",
  async (question) => {
    await expect(whenAvailable(() => sql.raw(question).execute(database()))).rejects.toMatchObject({
      failureKind: "contention",
      code: "database_unavailable",
    });
  },
);
