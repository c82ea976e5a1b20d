import { z } from "zod";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";
import { fileIdSchema } from "./file-id.ts";
import { jsonValue } from "./json-value.ts";
import { workspaceIdSchema } from "./workspace-id.ts";

// A line break in an address or a subject would let its writer add headers and recipients of their own.
const oneLine = z.string().regex(/^[^\r\n]*$/, "expected a single line");

/** One recipient per job: with several, one bad address would repeat the mail to all the others. */
const mailbox = z.object({ address: z.email(), name: oneLine.max(200).optional() });

/** What a template is given. */
const variables = z.record(z.string().min(1).max(100), jsonValue);

const templateId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, "expected a-z, 0-9 and . _ -, up to 100 characters");
const locale = z
  .string()
  .max(35)
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, "expected a language tag such as de or de-AT");

/** How a stored template is named, wherever one is. */
export const emailTemplateName = z.object({ id: templateId, locale: locale.optional() });

/** Headers that say what kind of mail this is, or belong to its thread. Whom it goes to and comes from, and what it holds, have fields. */
const headerNames = z.enum([
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
  "List-Id",
  "X-Entity-Ref-ID",
  "Auto-Submitted",
  "Precedence",
  "In-Reply-To",
  "References",
  "Feedback-ID",
]);
const headerValue = z
  .string()
  .max(998)
  .regex(/^[\x20-\x7e]+$/, "expected one line of printable ASCII");

/** What a mail says: a subject with html, text or both; or a stored template, which brings its own subject. */
const content = {
  subject: oneLine.min(1).max(998).optional(),
  /** Either part may be left out; the text part is then made from the HTML. */
  html: z.string().min(1).optional(),
  text: z.string().min(1).optional(),
  template: emailTemplateName.extend({ variables: variables.default({}) }).optional(),
};

const envelope = {
  /** Defaults to the worker's EMAIL_FROM. */
  from: mailbox.optional(),
  replyTo: z.email().optional(),
  headers: z.partialRecord(headerNames, headerValue).optional(),
  /** By reference to the file store; 25 MB in all. */
  attachments: z
    .array(z.object({ fileId: fileIdSchema, name: oneLine.min(1).max(255).optional() }))
    .max(20)
    .optional(),
  workspaceId: workspaceIdSchema.optional(),
};

function checkContent(
  { subject, html, text, template }: z.output<z.ZodObject<typeof content>>,
  context: z.core.$RefinementCtx,
): void {
  const refuse = (field: string, message: string) => context.addIssue({ code: "custom", path: [field], message });
  if (template !== undefined) {
    for (const [field, value] of Object.entries({ subject, html, text })) {
      if (value !== undefined) refuse(field, "expected none beside a template, which brings its own");
    }
    return;
  }
  if (subject === undefined) refuse("subject", "expected a subject, or a template");
  if (html === undefined && text === undefined) refuse("text", "expected html, text or both, or a template");
}

const week = 7 * 24 * 60 * 60_000;

export const emailContract = defineQueue("email", {
  /** One mail to one recipient. Skipped with the code `suppressed` where the recipient gets no mail. */
  sendEmail: {
    data: z
      .object({
        to: z.union([z.email(), mailbox]),
        ...content,
        ...envelope,
        /** One mail for all jobs of the workspace that have it, within a week. */
        idempotencyKey: z.string().min(1).max(300).optional(),
      })
      .superRefine(checkContent),
    result: z.object({ messageId: z.string() }),
    timeout: 30_000,
    workspaceId: (data) => data.workspaceId,
    searchable: { to: ({ to }) => (typeof to === "string" ? to : to.address) },
    idempotencyKey: (data) => data.idempotencyKey,
    idempotencyLifetimeMs: week,
    options: { attempts: 5 },
    example: { to: "ada@example.com", subject: "Hello from Millrace", text: "It works." },
  },
  /** The same mail to many: one `sendEmail` job for each, so that what becomes of one is nothing to the others. */
  sendBulk: {
    data: z
      .object({
        recipients: z
          .array(
            z.object({
              /** One that is no address is counted as invalid, and the others get their mail. */
              to: z.string().min(1).max(320),
              name: oneLine.max(200).optional(),
              /** Laid over the template's. */
              variables: variables.optional(),
            }),
          )
          .min(1)
          .max(1_000),
        ...content,
        ...envelope,
      })
      .superRefine(checkContent),
    result: z.object({
      enqueued: z.int(),
      /** Recipients that have their job already: from an earlier attempt, or because they are listed twice. */
      duplicates: z.int(),
      /** Where in `recipients` there is no address that could get a mail. */
      invalid: z.array(z.int()),
    }),
    timeout: 30_000,
    workspaceId: (data) => data.workspaceId,
    options: { attempts: 5 },
    example: {
      recipients: [
        { to: "ada@example.com", variables: { name: "Ada" } },
        { to: "bob@example.com", variables: { name: "Bob" } },
      ],
      template: { id: "welcome", variables: { product: "Millrace" } },
    },
  },
  /**
   * What has been collected for somebody, in one mail. Skipped with the code `nothing_to_send` where there is nothing.
   *
   * A template gets `items` (each with `text`, and `topic` and `link` where they were given, and `createdAt`), `count` and `recipient`.
   */
  sendDigest: {
    data: z.object({
      recipient: z.email(),
      /** Only what was collected for this workspace; without one, only what belongs to none. */
      workspaceId: workspaceIdSchema.optional(),
      /** Nothing that came later. Defaults to when the job was enqueued. */
      until: z.iso.datetime({ offset: true }).optional(),
      /** Defaults to a plain one that is built in. */
      template: emailTemplateName.optional(),
      from: mailbox.optional(),
      headers: envelope.headers,
    }),
    result: z.object({
      messageId: z.string(),
      /** Left out where an attempt before the last one had sent it. */
      items: z.int().optional(),
    }),
    timeout: 30_000,
    workspaceId: (data) => data.workspaceId,
    options: { attempts: 5 },
    example: { recipient: "ada@example.com" },
  },
});

export const EmailQueueJobAction = emailContract.actionNames.enum;
export type EmailQueueJobAction = JobAction<typeof emailContract>;
export type EmailQueueJobData = JobData<typeof emailContract>;
