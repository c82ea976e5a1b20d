import {
  beginWebhookDelivery,
  type Database,
  findWebhookEndpoint,
  recordWebhookAttempt,
  recordWebhookSuccess,
  type WebhookAttempt,
  type WebhookEndpoint,
  whenAvailable,
} from "@millrace/database";
import { SafeHttpError, type SafeRequestFunction, type SafeResponse } from "@millrace/safe-http";
import { signWebhook } from "@millrace/webhooks";
import { type webhookContract, webhookDeliveryId } from "@millrace/worker-config/contracts";
import { type HandlersOf, type JobContext, PermanentError, SkippedError, TransientError } from "@millrace/worker-host";
import { failureOfAnswer, failureOfRequest } from "./delivery-outcome.ts";
import { countFailure, disableEndpoint } from "./endpoint-health.ts";
import type { HostLimits } from "./host-limits.ts";

export type DeliverWebhook = HandlersOf<typeof webhookContract>["deliverWebhook"];

export interface DeliverWebhookParts {
  readonly database: Database;
  readonly request: SafeRequestFunction;
  readonly hostLimits: HostLimits;
  /** As WEBHOOK_TIMEOUT_MS. */
  readonly timeoutMs: number;
  /** As WEBHOOK_PAUSE_AFTER_MS. */
  readonly pauseAfterMs: number;
}

/** A message as it goes out, the same bytes at every attempt and every resend. */
interface Message {
  readonly deliveryId: string;
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
}

const maxAnswerBytes = 65_536;
const excerptBytes = 1_024;

/**
 * Delivers one event to one endpoint and keeps what came of it. `webhook-id` is the event's at every attempt, so that a receiver can tell what
 * it has had: should the worker die between the answer and its record, the event arrives twice.
 */
export function createDeliverWebhook(parts: DeliverWebhookParts): DeliverWebhook {
  const { database, hostLimits } = parts;
  return async ({ endpointId, event, eventId, payload, workspaceId, ...data }, context) => {
    const deliveryId = data.deliveryId ?? webhookDeliveryId(eventId, endpointId);
    const occurredAt = new Date(data.occurredAt ?? context.createdAt);
    const endpoint = await whenAvailable(() => findWebhookEndpoint(database, endpointId));
    if (!endpoint) throw new SkippedError("The endpoint does not exist, or no longer.", { code: "endpoint_unknown" });
    // Whose endpoint it is decides who may be blocked, and the host has asked for the workspace that the job names.
    if (endpoint.workspaceId !== workspaceId) {
      throw new PermanentError("workspaceId: expected the endpoint's own, or none where it has none, got another.", {
        code: "endpoint_of_another_workspace",
      });
    }
    const begun = { endpointId, event, eventId, occurredAt, payload: JSON.stringify(payload), jobId: context.jobId };
    const known = await whenAvailable(() => beginWebhookDelivery(database, { id: deliveryId, ...begun }));
    // The job's data may name any id, and what is kept under it may be another workspace's.
    if (known.endpointId !== endpointId) {
      throw new PermanentError("deliveryId: expected a new one or one of the endpoint's deliveries, got another's.", {
        code: "delivery_of_another_endpoint",
      });
    }
    if (known.status === "success") {
      return { deliveryId, status: known.httpStatus ?? 200, durationMs: known.durationMs ?? 0 };
    }
    if (endpoint.state !== "active") {
      const code = `endpoint_${endpoint.state}`;
      const skip = { status: "skipped", isAttempt: false, errorCode: code } as const;
      await whenAvailable(() => recordWebhookAttempt(database, deliveryId, skip));
      throw new SkippedError(`The endpoint is ${endpoint.state}; the delivery is kept and can be made again.`, {
        code,
      });
    }
    const body = JSON.stringify({ type: event, timestamp: occurredAt.toISOString(), data: payload });
    const { status, durationMs } = await hostLimits.take(hostOf(endpoint), deliveryId, context.signal, (signal) =>
      attempt(parts, endpoint, { deliveryId, event, eventId, body }, context, signal),
    );
    return { deliveryId, status, durationMs };
  };
}

async function attempt(
  parts: DeliverWebhookParts,
  endpoint: WebhookEndpoint,
  message: Message,
  context: JobContext,
  signal: AbortSignal,
): Promise<SafeResponse> {
  const startedAt = performance.now();
  const settled = await send(parts, endpoint, message, signal);
  // Ended from outside before an answer came: nothing is known of the endpoint. An answer that did come counts.
  if (settled instanceof SafeHttpError) signal.throwIfAborted();
  const failure = settled instanceof SafeHttpError ? failureOfRequest(settled) : failureOfAnswer(settled, Date.now());
  const isOver = failure instanceof PermanentError || (failure instanceof TransientError && context.isFinalAttempt);
  await keep(context, async () => {
    await recordWebhookAttempt(parts.database, message.deliveryId, {
      status: failure === undefined ? "success" : isOver ? "failed" : "pending",
      errorCode: failure?.code,
      ...(settled instanceof SafeHttpError
        ? { durationMs: Math.round(performance.now() - startedAt) }
        : answerFields(settled)),
    });
    if (failure === undefined) await recordWebhookSuccess(parts.database, endpoint.id);
    else if (failure.code === "endpoint_gone") await disableEndpoint(parts.database, endpoint);
    else await countFailure(parts.database, endpoint, parts.pauseAfterMs, context);
  });
  if (failure !== undefined || settled instanceof SafeHttpError) throw failure;
  return settled;
}

async function send(
  { request, timeoutMs }: DeliverWebhookParts,
  { url, secrets }: WebhookEndpoint,
  { deliveryId, event, eventId, body }: Message,
  signal: AbortSignal,
): Promise<SafeResponse | SafeHttpError> {
  const headers = {
    "content-type": "application/json",
    "user-agent": "Millrace-Webhooks/1",
    ...signWebhook({ id: eventId, sentAt: new Date(), body }, secrets),
    "x-webhook-event": event,
    "x-webhook-delivery": deliveryId,
  };
  try {
    return await request(url, {
      method: "POST",
      headers,
      body,
      signal,
      deadlineMs: timeoutMs,
      maxBytes: maxAnswerBytes,
    });
  } catch (error) {
    if (error instanceof SafeHttpError) return error;
    throw error;
  }
}

/** What no URL is has no host, and is refused when it is called. */
function hostOf({ url }: WebhookEndpoint): string {
  return URL.parse(url)?.hostname || "none";
}

function answerFields({ status, durationMs, body }: SafeResponse): Partial<WebhookAttempt> {
  return { httpStatus: status, durationMs, excerpt: body.subarray(0, excerptBytes).toString() };
}

/** The endpoint has been called: a database that is away now must not have it called again. */
async function keep({ log }: JobContext, record: () => Promise<void>): Promise<void> {
  await record().catch((err: unknown) => {
    log.error({ code: "delivery_not_recorded", err }, "what came of a delivery could not be recorded");
  });
}
