import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import { findAgentApproval, requestAgentApproval } from "./agent-approvals.ts";
import { openAgentRun } from "./agent-runs.ts";
import { addDigestItem, claimDigest, listDigestRecipients, markDigestSent } from "./email-digest-items.ts";
import { removeWorkspaceData } from "./remove-workspace-data.ts";
import { beginWebhookDelivery, findWebhookDelivery } from "./webhook-deliveries.ts";
import { createWebhookEndpoint, findWebhookEndpoint } from "./webhook-endpoints.ts";

const { database } = useDatabase();
const later = () => new Date(Date.now() + 60_000);

async function addEndpoint(workspaceId: string, deliveries: number): Promise<string> {
  const { id } = await createWebhookEndpoint(database(), {
    workspaceId,
    url: "https://x.y/",
    events: ["*"],
    secret: "s",
  });
  const event = { endpointId: id, event: "a", eventId: "1", occurredAt: new Date(), payload: "{}", jobId: "1" };
  for (let n = 0; n < deliveries; n++) await beginWebhookDelivery(database(), { id: `${id}-${n}`, ...event });
  return id;
}

async function addApproval(workspaceId: string): Promise<void> {
  const job = { queue: "email", action: "sendEmail", data: "{}", reason: "x" };
  await openAgentRun(database(), { id: workspaceId, queue: "aiAgent", jobId: "1", action: "runAgent", workspaceId });
  await requestAgentApproval(database(), { id: workspaceId, runId: workspaceId, workspaceId, ...job });
}

test("of a workspace nothing is left that could go out, however many statements that takes, and of another one everything", async () => {
  const [doomed, safe] = ["workspace-42", randomUUID()];
  for (const workspaceId of [doomed, doomed, doomed, safe, undefined])
    await addDigestItem(database(), { recipient: "ada@example.com", workspaceId, text: "x" });
  await addDigestItem(database(), { recipient: "sent@example.com", workspaceId: doomed, text: "x" });
  await claimDigest(database(), "<1>", { recipient: "sent@example.com", workspaceId: doomed, until: later() });
  await markDigestSent(database(), "<1>");
  const gone = [await addEndpoint(doomed, 5), await addEndpoint(doomed, 0)];
  const kept = await addEndpoint(safe, 1);
  for (const workspaceId of [doomed, safe]) await addApproval(workspaceId);

  expect(await removeWorkspaceData(database(), doomed, { batchSize: 2 })).toEqual({
    digestItems: 3,
    webhookEndpoints: 2,
    agentRuns: 1,
  });
  expect(await findAgentApproval(database(), doomed)).toBeUndefined();
  expect(await findAgentApproval(database(), safe)).toMatchObject({ state: "pending" });

  for (const id of gone) expect(await findWebhookEndpoint(database(), id)).toBeUndefined();
  expect(await findWebhookDelivery(database(), `${gone[0]}-4`)).toBeUndefined();
  expect(await findWebhookDelivery(database(), `${kept}-0`)).toMatchObject({ endpointId: kept });
  expect(await listDigestRecipients(database(), { until: later(), limit: 10 })).toEqual([
    { recipient: "ada@example.com", workspaceId: undefined },
    { recipient: "ada@example.com", workspaceId: safe },
  ]);
});

test("removing ends between two statements when it is called off", async () => {
  const id = await addEndpoint("patient", 1);
  const signal = AbortSignal.abort(new Error("called off"));
  await expect(removeWorkspaceData(database(), "patient", { signal })).rejects.toThrow("called off");
  expect(await findWebhookEndpoint(database(), id)).toBeDefined();
});
