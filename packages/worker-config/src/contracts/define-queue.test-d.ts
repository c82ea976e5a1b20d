// What must not compile: `tsc` reports an error that was expected and does not come.
import { z } from "zod";
import { enqueue } from "../enqueue.ts";
import { emailQueue, webhookQueue } from "../queues/queues.ts";
import { defineQueue, type QueueContract } from "./define-queue.ts";
import { EmailQueueJobAction, type EmailQueueJobData, emailContract } from "./email.ts";

const mail = { to: "ada@example.com", subject: "Hello", text: "Hello" };

// What must compile.
export const action: EmailQueueJobAction = EmailQueueJobAction.sendEmail;
export const job: EmailQueueJobData = { type: "sendEmail", data: mail };
export const anyContract: QueueContract = emailContract;
await emailQueue.add("sendEmail", job, { jobId: "welcome-1" });
await emailQueue.addBulk([{ name: "sendEmail", data: job }]);
await enqueue(emailContract, "sendEmail", mail, { delayMs: 1_000 });
export const contract = defineQueue("heavy", {
  count: {
    data: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
    result: z.object({ total: z.number() }),
    idempotencyKey: (data) => data.at.toISOString(),
    searchable: { day: (data) => data.at.toISOString().slice(0, 10) },
  },
  forget: { data: z.object({}) },
});

// @ts-expect-error no such queue
defineQueue("emial", {});
// @ts-expect-error no such action
await emailQueue.add("sendFax", job);
// @ts-expect-error name and type disagree
await emailQueue.add("sendEmail", { type: "sendFax", data: mail });
// @ts-expect-error name and type disagree, in bulk
await emailQueue.addBulk([{ name: "sendEmail", data: { type: "sendFax", data: mail } }]);
// @ts-expect-error wrong data
await emailQueue.add("sendEmail", { type: "sendEmail", data: { ...mail, subject: 1 } });
// @ts-expect-error missing data
await enqueue(emailContract, "sendEmail", { subject: "Hello", text: "Hello" });
// @ts-expect-error no such action
await enqueue(emailContract, "sendFax", mail);
// @ts-expect-error no such option
await enqueue(emailContract, "sendEmail", mail, { delay: 1_000 });
// @ts-expect-error a queue without actions accepts no job
await webhookQueue.add("deliver", { type: "deliver", data: {} });
// @ts-expect-error a Date does not survive JSON
defineQueue("heavy", { count: { data: z.object({ at: z.date() }) } });
// @ts-expect-error neither does a BigInt
defineQueue("heavy", { count: { data: z.object({ total: z.bigint() }) } });
// @ts-expect-error nor a Date in a result
defineQueue("heavy", { count: { data: z.object({}), result: z.object({ at: z.date() }) } });
// @ts-expect-error an option that does not exist
defineQueue("heavy", { count: { data: z.object({}), timeoutMs: 1_000 } });
// @ts-expect-error an example that is no data of its action
defineQueue("heavy", { count: { data: z.object({ total: z.number() }), example: { total: "three" } } });
// @ts-expect-error a searchable field that the data does not have
defineQueue("heavy", { count: { data: z.object({ total: z.number() }), searchable: { to: (data) => data.to } } });
// @ts-expect-error a searchable value that is no text
defineQueue("heavy", { count: { data: z.object({ total: z.number() }), searchable: { total: (data) => data.total } } });
