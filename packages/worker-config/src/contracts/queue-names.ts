import { z } from "zod";

/**
 * The table of contents: every queue there is. The compiler asks for the rest (a contract and a queue object per name). A name
 * holds no `:`, which separates the parts of a Redis key.
 */
export const queueNames = z.enum([
  "email",
  "webhook",
  "aiAgent",
  "aiAgentUrgent",
  "heavy",
  "schedule",
  "integration",
  "chat",
  "default",
  "trigger",
  "notification",
  "broadcast",
  "quota",
]);

export type QueueName = z.infer<typeof queueNames>;
