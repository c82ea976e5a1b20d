import { z } from "zod";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";

// A line break in an address or a subject would let its writer add headers and recipients of their own.
const oneLine = z.string().regex(/^[^\r\n]*$/, "expected a single line");

/** One recipient per job: with several, one bad address would repeat the mail to all the others. */
const mailbox = z.object({ address: z.email(), name: oneLine.max(200).optional() });

export const emailContract = defineQueue("email", {
  sendEmail: {
    data: z
      .object({
        to: z.union([z.email(), mailbox]),
        subject: oneLine.min(1).max(998),
        /** Either part may be left out; the text part is then made from the HTML. */
        html: z.string().min(1).optional(),
        text: z.string().min(1).optional(),
        /** Defaults to the worker's EMAIL_FROM. */
        from: mailbox.optional(),
        replyTo: z.email().optional(),
        workspaceId: z.uuid().optional(),
      })
      .refine((data) => data.html !== undefined || data.text !== undefined, {
        path: ["text"],
        message: "expected html, text or both",
      }),
    result: z.object({ messageId: z.string() }),
    timeout: 30_000,
    workspaceId: (data) => data.workspaceId,
    options: { attempts: 5 },
    example: { to: "ada@example.com", subject: "Hello from Millrace", text: "It works." },
  },
});

export const EmailQueueJobAction = emailContract.actionNames.enum;
export type EmailQueueJobAction = JobAction<typeof emailContract>;
export type EmailQueueJobData = JobData<typeof emailContract>;
