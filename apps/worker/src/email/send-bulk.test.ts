import { InvalidJobError } from "@millrace/worker-config";
import { emailContract } from "@millrace/worker-config/contracts";
import type { JobContext } from "@millrace/worker-host";
import { expect, test } from "vitest";
import { createSendBulk } from "./send-bulk.ts";
import { jobContext, reasonOf } from "./test/email-worker.ts";

const data = (bulk: unknown) => emailContract.actions.sendBulk.data.parse(bulk);
const content = { subject: "News", text: "x" };
const recipients = (count: number) => Array.from({ length: count }, (_, n) => ({ to: `r${n}@example.com` }));

interface Added {
  readonly jobId: string;
  readonly data: { readonly to: unknown; readonly idempotencyKey: string };
}

/** A queue that keeps what it gets by its id, checks it as the real one does, and refuses from a given job on. */
function queueUntil(fails = Number.POSITIVE_INFINITY) {
  const added = new Map<string, Added["data"]>();
  let asked = 0;
  const enqueue = async (_: unknown, _action: string, mail: Added["data"], options: { jobId: string }) => {
    asked += 1;
    if (asked > fails) throw new Error("the queue is away");
    if (!emailContract.actions.sendEmail.data.safeParse(mail).success) throw new InvalidJobError("invalid_data", "no");
    if (added.has(options.jobId)) return { status: "duplicate", jobId: options.jobId };
    added.set(options.jobId, mail);
    return { status: "created", jobId: options.jobId };
  };
  // It takes what this action gives, not every contract's jobs.
  return { added, enqueue: enqueue as unknown as JobContext["enqueue"] };
}

test("each recipient gets one job, an address that is listed twice too, and what is no address is counted", async () => {
  const { added, enqueue } = queueUntil();
  const bulk = data({
    recipients: [
      { to: "ada@example.com", name: "Ada" },
      { to: "not an address" },
      { to: "ADA@example.com" },
      { to: "bob@example.com\r\nRCPT TO:<eve@example.com>" },
      { to: "bob@example.com" },
    ],
    ...content,
  });
  const result = await createSendBulk()(bulk, jobContext("sendBulk", { enqueue }));
  expect(result).toEqual({ enqueued: 2, duplicates: 1, invalid: [1, 3] });
  expect([...added.values()]).toMatchObject([
    { to: { address: "ada@example.com", name: "Ada" }, subject: "News" },
    { to: "bob@example.com" },
  ]);
});

test("an attempt that ended in the middle is taken up where it was, and adds nobody twice", async () => {
  const { added, enqueue } = queueUntil(70);
  const bulk = data({ recipients: recipients(100), ...content });
  const context = jobContext("sendBulk", { jobId: "news-5", createdAt: new Date(7) });
  expect(await reasonOf(createSendBulk()(bulk, { ...context, enqueue }))).toMatchObject({
    message: "the queue is away",
  });
  const before = added.size;
  expect(before).toBe(70);
  const second = queueUntil();
  for (const [jobId, mail] of added) second.added.set(jobId, mail);
  const result = await createSendBulk()(bulk, { ...context, attempt: 2, enqueue: second.enqueue });
  expect(result).toEqual({ enqueued: 30, duplicates: 70, invalid: [] });
  expect(second.added.size).toBe(100);
  expect(new Set([...second.added.values()].map(({ idempotencyKey }) => idempotencyKey)).size).toBe(100);
});

test("another bulk job under the same id mails everybody anew", async () => {
  const { enqueue } = queueUntil();
  const bulk = data({ recipients: recipients(3), ...content });
  for (const at of [1, 2]) {
    const context = jobContext("sendBulk", { jobId: "weekly", createdAt: new Date(at), enqueue });
    expect(await createSendBulk()(bulk, context)).toMatchObject({ enqueued: 3, duplicates: 0 });
  }
});

test("a thousand recipients are taken, more are refused, and so is a list without one who could get a mail", async () => {
  const { added, enqueue } = queueUntil();
  await createSendBulk()(data({ recipients: recipients(1_000), ...content }), jobContext("sendBulk", { enqueue }));
  expect(added.size).toBe(1_000);
  expect(() => data({ recipients: recipients(1_001), ...content })).toThrow();
  const none = createSendBulk()(data({ recipients: [{ to: "x" }], ...content }), jobContext("sendBulk", { enqueue }));
  expect(await reasonOf(none)).toMatchObject({ failureKind: "permanent", code: "no_valid_recipient" });
});

test("an attempt whose time is up adds no further job", async () => {
  const { added, enqueue } = queueUntil();
  const signal = AbortSignal.abort(new Error("time is up"));
  const bulk = data({ recipients: recipients(3), ...content });
  await reasonOf(createSendBulk()(bulk, jobContext("sendBulk", { enqueue, signal })));
  expect(added.size).toBe(0);
});
