import { listWebhookDeliveries, moveWebhookEndpoint } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { createLogger } from "@millrace/logger";
import { webhookContract, webhookRetries } from "@millrace/worker-config/contracts";
import { hosted, type MemoryHost, startMemoryHost } from "@millrace/worker-host/memory";
import { afterEach, beforeAll, expect, test } from "vitest";
import { createDeliverWebhook } from "./deliver-webhook.ts";
import { createDispatchEvent } from "./dispatch-event.ts";
import { useWebhookDomain } from "./test/domain.ts";
import { startReceiver, type TestReceiver } from "./test/receiver.ts";

const { database } = useDatabase();
const { parts, endpoint } = useWebhookDomain(database);
const running: MemoryHost[] = [];
let receiver: TestReceiver;

beforeAll(async () => {
  receiver = await startReceiver(({ path }, response) => {
    if (path === "/busy") response.writeHead(429, { "retry-after": "5" }).end();
    else response.writeHead(path === "/broken" ? 500 : 200).end();
  });
});
afterEach(() => Promise.all(running.splice(0).map((memory) => memory.stop(1_000))));

function startHost(blockedId?: string): MemoryHost {
  const handlers = {
    dispatchEvent: createDispatchEvent(database(), 2),
    deliverWebhook: createDeliverWebhook(parts()),
  };
  const memory = startMemoryHost([hosted(webhookContract, handlers)], {
    log: createLogger({ level: "silent" }),
    workspaces: {
      standingOf: async (id) => (id === blockedId ? { standing: "blocked", ownerId: "o" } : { standing: "active" }),
      workspaceOf: async () => undefined,
    },
  });
  running.push(memory);
  return memory;
}

const paid = (eventId: string, workspaceId: string) => ({
  event: "order.paid",
  eventId,
  workspaceId,
  payload: { total: 1 },
});
const event = (data: ReturnType<typeof paid>) => (memory: MemoryHost) =>
  memory.enqueue(webhookContract, "dispatchEvent", data);

test("an event goes to every endpoint of its workspace that subscribes, over several pages, and a second time to none", async () => {
  const workspaceId = crypto.randomUUID();
  for (let count = 0; count < 5; count++) await endpoint(receiver.url("/all"), { workspaceId, events: ["order.*"] });
  await endpoint(receiver.url("/other"), { workspaceId, events: ["user.*"] });
  await endpoint(receiver.url("/other"), { workspaceId: crypto.randomUUID() });
  const memory = startHost();
  const dispatch = event(paid("evt_all", workspaceId));
  const { jobId } = await dispatch(memory);
  await memory.drain();
  expect(memory.findJob("webhook", jobId)?.result).toMatchObject({ deliveries: 2, created: 2 });
  expect(receiver.received("/all")).toHaveLength(5);
  expect(receiver.received("/other")).toEqual([]);
  memory.assertEnqueued(webhookContract, "dispatchEvent", {}, { times: 3 });

  const again = await dispatch(memory);
  await memory.drain();
  expect(memory.findJob("webhook", again.jobId)).toMatchObject({ status: "skipped" });
  // Where nothing but the database remembers, as after a loss of Redis.
  const fresh = startHost();
  await dispatch(fresh);
  await fresh.drain();
  fresh.assertEnqueued(webhookContract, "deliverWebhook", {}, { times: 5 });
  expect(receiver.received("/all")).toHaveLength(5);
});

test.each([
  ["is broken", "/broken", 500, "endpoint_failed"],
  ["is busy and says that it will not be in five seconds", "/busy", 429, "endpoint_busy"],
])(
  "an endpoint that %s is tried ten times over three days, and then it is a dead letter",
  async (_, path, httpStatus, errorCode) => {
    const workspaceId = crypto.randomUUID();
    const { id: endpointId } = await endpoint(receiver.url(path), { workspaceId });
    const memory = startHost();
    await event(paid("evt_patient", workspaceId))(memory);
    await memory.fastForward(webhookRetries.retryIntervalsMs.reduce((sum, waitMs) => sum + waitMs) - 1_000);
    expect(receiver.received(path)).toHaveLength(9);
    await memory.fastForward();
    expect(receiver.received(path)).toHaveLength(10);
    expect(memory.deadLetters()).toMatchObject([{ attempts: 10, error: { code: errorCode } }]);
    expect(await listWebhookDeliveries(database(), { endpointId, limit: 10 })).toMatchObject([
      { status: "failed", attempts: 10, httpStatus, errorCode },
    ]);
  },
);

test("an endpoint of a blocked owner gets nothing, whoever's the event is said to be", async () => {
  const workspaceId = crypto.randomUUID();
  const { id: endpointId } = await endpoint(receiver.url("/blocked"), { workspaceId });
  const memory = startHost(workspaceId);
  const deliver = (eventId: string, of: object) =>
    memory.enqueue(webhookContract, "deliverWebhook", { endpointId, event: "a", eventId, payload: {}, ...of });
  const [own, nobodys] = [await deliver("evt_own", { workspaceId }), await deliver("evt_nobodys", {})];
  await memory.drain();
  expect(memory.findJob("webhook", own.jobId)).toMatchObject({ status: "skipped", error: { code: "owner_blocked" } });
  expect(memory.findJob("webhook", nobodys.jobId)).toMatchObject({
    status: "failed",
    error: { code: "endpoint_of_another_workspace" },
  });
  expect(receiver.received("/blocked")).toEqual([]);
});

test("a paused endpoint misses nothing: its deliveries are skipped and kept", async () => {
  const workspaceId = crypto.randomUUID();
  const { id: endpointId } = await endpoint(receiver.url("/paused"), { workspaceId });
  await moveWebhookEndpoint(database(), endpointId, { from: ["active"], to: "paused" });
  const memory = startHost();
  await event(paid("evt_paused", workspaceId))(memory);
  await memory.drain();
  expect(memory.deadLetters()).toEqual([]);
  expect(receiver.received("/paused")).toEqual([]);
  expect(await listWebhookDeliveries(database(), { endpointId, limit: 10 })).toMatchObject([
    { status: "skipped", eventId: "evt_paused", errorCode: "endpoint_paused" },
  ]);
});

test.each([
  ["a name with an empty part", { event: "order..paid" }],
  ["an event id with a dot, which is signed with dots around it", { eventId: "evt.1" }],
  ["a payload that is no object", { payload: [1] }],
  ["a payload that is too large", { payload: { text: "x".repeat(65_536) } }],
])("%s is refused before it is added", (_, wrong) => {
  const { data } = webhookContract.actions.dispatchEvent;
  expect(data.safeParse({ ...paid("evt_1", crypto.randomUUID()), ...wrong }).success).toBe(false);
});
