import * as contracts from "../contracts/index.ts";
import { queueOf } from "./queue-of.ts";

export const emailQueue = queueOf(contracts.emailContract);
export const webhookQueue = queueOf(contracts.webhookContract);
export const aiAgentQueue = queueOf(contracts.aiAgentContract);
export const aiAgentUrgentQueue = queueOf(contracts.aiAgentUrgentContract);
export const heavyQueue = queueOf(contracts.heavyContract);
export const scheduleQueue = queueOf(contracts.scheduleContract);
export const integrationQueue = queueOf(contracts.integrationContract);
export const chatQueue = queueOf(contracts.chatContract);
export const defaultQueue = queueOf(contracts.defaultContract);
export const triggerQueue = queueOf(contracts.triggerContract);
export const notificationQueue = queueOf(contracts.notificationContract);
export const broadcastQueue = queueOf(contracts.broadcastContract);
export const quotaQueue = queueOf(contracts.quotaContract);

/** Every queue under its name: a name without a queue does not compile. */
export const queues = {
  email: emailQueue,
  webhook: webhookQueue,
  aiAgent: aiAgentQueue,
  aiAgentUrgent: aiAgentUrgentQueue,
  heavy: heavyQueue,
  schedule: scheduleQueue,
  integration: integrationQueue,
  chat: chatQueue,
  default: defaultQueue,
  trigger: triggerQueue,
  notification: notificationQueue,
  broadcast: broadcastQueue,
  quota: quotaQueue,
} satisfies Record<contracts.QueueName, object>;
