import { type Database, moveWebhookEndpoint, recordWebhookFailure, type WebhookEndpoint } from "@millrace/database";
import { makeJobId } from "@millrace/worker-config";
import { emailContract } from "@millrace/worker-config/contracts";
import type { JobContext } from "@millrace/worker-host";

/** The endpoint said that it is gone for good. */
export async function disableEndpoint(database: Database, endpoint: WebhookEndpoint): Promise<void> {
  await moveWebhookEndpoint(database, endpoint.id, { from: ["active", "paused"], to: "disabled", reason: "gone" });
}

/**
 * Counts a failure, and pauses an endpoint that has failed for `pauseAfterMs` without a success in between. Its owner is told first, and under
 * an id that is one per pause: should this process die in between, the next failure does both again and the owner hears of it once.
 */
export async function countFailure(
  database: Database,
  endpoint: WebhookEndpoint,
  pauseAfterMs: number,
  { enqueue, log }: Pick<JobContext, "enqueue" | "log">,
): Promise<void> {
  const failure = await recordWebhookFailure(database, endpoint.id);
  if (!failure || failure.failingMs < pauseAfterMs) return;
  if (endpoint.ownerEmail !== undefined) {
    const jobId = makeJobId("webhook-paused", endpoint.id, failure.failingSince.getTime());
    await enqueue(emailContract, "sendEmail", noticeTo(endpoint.ownerEmail, endpoint, failure.failingSince), { jobId });
  }
  const isPaused = await moveWebhookEndpoint(database, endpoint.id, {
    from: ["active"],
    to: "paused",
    reason: "failing",
  });
  if (isPaused)
    log.warn({ code: "endpoint_paused", endpointId: endpoint.id }, "webhook endpoint paused, it kept failing");
}

function noticeTo(to: string, { id, url, workspaceId }: WebhookEndpoint, failingSince: Date) {
  return {
    to,
    subject: "Your webhook endpoint is paused",
    text: [
      `Since ${failingSince.toUTCString()} your endpoint has taken none of our deliveries:`,
      "",
      url,
      "",
      "We have stopped calling it. What it misses from now on is kept for a while and can be sent again once it is resumed.",
      "",
      `Endpoint ${id}`,
    ].join("\n"),
    ...(workspaceId !== undefined && { workspaceId }),
  };
}
