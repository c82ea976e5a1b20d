import { putEmailTemplate } from "@millrace/database";
import { emailContract } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { reasonOf, useEmailWorker } from "./test/email-worker.ts";

const schema = emailContract.actions.sendEmail.data;
const { run, inbox, database } = useEmailWorker();
const mailWith = (wanted: string) => inbox().waitForMessage(({ subject }) => subject === wanted);

test("a mail arrives with both parts, its sender and a Message-ID that is the job's", async () => {
  const mail = { to: "ada@example.com", subject: "Both parts", html: "<p>Hello <b>Ada</b></p>", text: "Hello Ada" };
  const result = await run("sendEmail", mail, { jobId: "welcome-1", createdAt: new Date(1_000) });
  const arrived = await mailWith("Both parts");
  expect(arrived).toMatchObject({
    to: ["ada@example.com"],
    html: "<p>Hello <b>Ada</b></p>",
    from: '"Shop" <shop@example.com>',
  });
  expect(arrived.text.trim()).toBe("Hello Ada");
  expect(arrived.messageId).toBe("<welcome-1.1000@example.com>");
  expect(result).toEqual({ messageId: "<welcome-1.1000@example.com>" });
});

test("without a text part it is made from the HTML", async () => {
  await run("sendEmail", {
    to: "ada@example.com",
    subject: "HTML alone",
    html: "<h1>Order</h1><p>Two <i>books</i></p>",
  });
  expect((await mailWith("HTML alone")).text).toMatch(/ORDER\s+Two books/);
});

test("names, sender, reply address and headers travel as given", async () => {
  await run("sendEmail", {
    to: { address: "ada@example.com", name: 'Ada "the" Countess, <x@y.z>' },
    from: { address: "billing@shop.example", name: "Billing" },
    replyTo: "help@shop.example",
    subject: "Ünïcode ✓",
    text: "x",
    headers: { "List-Unsubscribe": "<https://shop.example/u/1>", "Auto-Submitted": "auto-generated" },
  });
  const mail = await mailWith("Ünïcode ✓");
  expect(mail.to).toEqual(["ada@example.com"]);
  expect(mail.from).toBe('"Billing" <billing@shop.example>');
  expect(mail.headers).toMatchObject({
    "reply-to": "help@shop.example",
    "list-unsubscribe": "<https://shop.example/u/1>",
    "auto-submitted": "auto-generated",
  });
  expect(mail.messageId).toMatch(/@shop\.example>$/);
});

const fileId = "file_00000000-0000-8000-8000-000000000000";

test.each([
  ["no content", { subject: "x" }],
  ["no subject", { text: "x" }],
  ["a template beside a text", { template: { id: "welcome" }, text: "x" }],
  ["a template beside a subject", { template: { id: "welcome" }, subject: "x" }],
  ["21 attachments", { subject: "x", text: "x", attachments: Array(21).fill({ fileId }) }],
])("a mail with %s is refused", (_, wrong) => {
  expect(schema.safeParse({ to: "ada@example.com", ...wrong }).success).toBe(false);
});

test("a stored template makes the mail in the reader's language, and a change of it holds for the next mail", async () => {
  const store = (subject: string, locale?: string) =>
    putEmailTemplate(database(), { id: "welcome", locale, subject, html: "<p>{{ name }}</p>" });
  const send = (locale?: string) =>
    run("sendEmail", { to: "ada@example.com", template: { id: "welcome", locale, variables: { name: "A & B" } } });
  await store("Hello {{ name }}");
  await store("Hallo {{ name }}", "de");
  await send("de-AT");
  expect(await mailWith("Hallo A & B")).toMatchObject({ html: "<p>A &amp; B</p>", text: "A & B" });
  await send("fr");
  await mailWith("Hello A & B");
  await store("Good day {{ name }}");
  await send();
  await mailWith("Good day A & B");
});

test.each([
  ["is not there", "nowhere", { code: "template_missing" }],
  ["is broken", "broken", { code: "template_invalid" }],
  ["wants a variable that the job has not", "wanting", { code: "template_variable_missing" }],
])("a template that %s is permanent, and says so without what the job holds", async (_, id, expected) => {
  await putEmailTemplate(database(), { id: "broken", subject: "x", text: "{% if %}" });
  await putEmailTemplate(database(), { id: "wanting", subject: "x", text: "{{ name }}" });
  const template = { id, variables: { secret: "SECRET" } };
  const error = await reasonOf(run("sendEmail", { to: "ada@example.com", template }));
  expect(error).toMatchObject({ failureKind: "permanent", ...expected });
  expect(String(error)).not.toContain("SECRET");
});
