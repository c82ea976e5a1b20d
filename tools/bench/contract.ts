import { defineQueue } from "@millrace/worker-config/contracts";
import { z } from "zod";

/** A payload of about 200 bytes, as a mail or a webhook has it, that the host validates. */
const data = z.object({
  workspaceId: z.uuid(),
  to: z.email(),
  subject: z.string().min(1),
  text: z.string(),
  key: z.string(),
});

export const benchContract = defineQueue("default", {
  run: { data, workspaceId: ({ workspaceId }) => workspaceId },
  keyed: { data, idempotencyKey: ({ key }) => key },
});

export const benchData = (index: number) => ({
  workspaceId: "0b7a4c0e-5a6f-4a52-9a3e-0f7f3b1f9a11",
  to: "somebody@example.com",
  subject: `Message ${index}`,
  text: "x".repeat(40),
  key: `effect-${index}`,
});

/** A queue of which ten jobs may start in a second, over all processes. */
export const rateContract = defineQueue(
  "default",
  { run: { data: z.object({}) } },
  { rateLimit: { max: 10, durationMs: 1_000 } },
);
