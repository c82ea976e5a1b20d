/**
 * The pure door: names, contracts and types alone. It needs zod and nothing else, opens no socket and reads no environment, so
 * that a browser form, a test or another service can use a contract without a queue.
 */
import { aiAgentContract } from "./ai-agent.ts";
import { aiAgentUrgentContract } from "./ai-agent-urgent.ts";
import { broadcastContract } from "./broadcast.ts";
import { chatContract } from "./chat.ts";
import { defaultContract } from "./default.ts";
import type { QueueContract } from "./define-queue.ts";
import { emailContract } from "./email.ts";
import { heavyContract } from "./heavy.ts";
import { integrationContract } from "./integration.ts";
import { notificationContract } from "./notification.ts";
import type { QueueName } from "./queue-names.ts";
import { quotaContract } from "./quota.ts";
import { scheduleContract } from "./schedule.ts";
import { triggerContract } from "./trigger.ts";
import { webhookContract } from "./webhook.ts";

export * from "./ai-agent.ts";
export * from "./ai-agent-urgent.ts";
export type { AudioOutput } from "./audio-output.ts";
export * from "./broadcast.ts";
export * from "./cancellation.ts";
export * from "./chat.ts";
export * from "./default.ts";
export * from "./define-queue.ts";
export * from "./email.ts";
export * from "./file-id.ts";
export * from "./file-reference.ts";
export type { ReportColumn } from "./generate-report.ts";
export * from "./heavy.ts";
export * from "./integration.ts";
export * from "./iso-time.ts";
export * from "./job-envelope.ts";
export * from "./job-failure.ts";
export * from "./job-options.ts";
export * from "./job-replay.ts";
export * from "./job-skip.ts";
export * from "./job-statistics.ts";
export * from "./job-status.ts";
export * from "./job-workspace.ts";
export * from "./json-value.ts";
export * from "./notification.ts";
export * from "./output-schema.ts";
export * from "./queue-names.ts";
export * from "./quota.ts";
export * from "./schedule.ts";
export * from "./searchable.ts";
export { exampleSoundFileId } from "./transcode-audio.ts";
export * from "./trigger.ts";
export * from "./webhook.ts";
export * from "./worker-record.ts";
export * from "./workspace-id.ts";

/** Every queue's contract, under the queue's name. */
export const contracts = {
  email: emailContract,
  webhook: webhookContract,
  aiAgent: aiAgentContract,
  aiAgentUrgent: aiAgentUrgentContract,
  heavy: heavyContract,
  schedule: scheduleContract,
  integration: integrationContract,
  chat: chatContract,
  default: defaultContract,
  trigger: triggerContract,
  notification: notificationContract,
  broadcast: broadcastContract,
  quota: quotaContract,
} satisfies { [Name in QueueName]: QueueContract<Name> };
