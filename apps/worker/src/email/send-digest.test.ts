import { addDigestItem, listDigestRecipients, putEmailTemplate } from "@millrace/database";
import { expect, test } from "vitest";
import { reasonOf, useEmailWorker } from "./test/email-worker.ts";

const { run, inbox, database } = useEmailWorker();
// The database's clock says when an item came, and may be ahead of this one by a little.
const soon = () => new Date(Date.now() + 60_000);
const tell = (recipient: string, text: string, more: { topic?: string; link?: string } = {}) =>
  addDigestItem(database(), { recipient, text, ...more });
const mailsTo = (address: string) =>
  inbox()
    .messages()
    .filter(({ to }) => to.includes(address))
    .map((mail) => ({ ...mail, text: mail.text.trim() }));

test("everything collected comes in one mail, once, and then there is nothing to send", async () => {
  const to = "ada@example.com";
  await tell(to, "Two <new> books", { topic: "Library", link: "https://example.com/?a=1&b=2" });
  await tell(to, "A reply");
  const result = await run("sendDigest", { recipient: to, until: soon().toISOString() }, { jobId: "d-1" });
  expect(result).toEqual({ messageId: expect.stringContaining("d-1"), items: 2 });
  expect(mailsTo(to)).toMatchObject([
    {
      subject: "2 things since your last digest",
      text: "- Library: Two <new> books\n  https://example.com/?a=1&b=2\n- A reply",
      html: expect.stringContaining('<a href="https://example.com/?a=1&amp;b=2">Two &lt;new&gt; books</a>'),
    },
  ]);
  expect(await reasonOf(run("sendDigest", { recipient: to, until: soon().toISOString() }))).toMatchObject({
    isSkip: true,
    code: "nothing_to_send",
  });
});

test("an attempt that failed is followed by one with the same items, whoever the sender is by then, and what came meanwhile waits", async () => {
  const to = "bob@example.com";
  await tell(to, "first");
  const job = { jobId: "d-2", createdAt: soon() };
  await reasonOf(run("sendDigest", { recipient: to }, { ...job, smtpUrl: "smtp://127.0.0.1:1" }));
  await tell(to, "second");
  const defaultFrom = "Shop <shop@elsewhere.example>";
  await run("sendDigest", { recipient: to }, { ...job, attempt: 2, defaultFrom });
  expect(mailsTo(to).map(({ text }) => text)).toEqual(["- first"]);
  const unsent = await listDigestRecipients(database(), { until: soon(), limit: 10 });
  expect(unsent).toContainEqual({ recipient: to, workspaceId: undefined });
});

test("a job that runs again after its mail was taken sends no second one", async () => {
  const to = "eve@example.com";
  await tell(to, "once");
  const job = { jobId: "d-3", createdAt: soon() };
  const first = await run("sendDigest", { recipient: to }, job);
  await tell(to, "later");
  expect(await run("sendDigest", { recipient: to }, { ...job, attempt: 2 })).toEqual({ messageId: first.messageId });
  expect(mailsTo(to)).toHaveLength(1);
});

test("a stored template makes the mail where the job names one", async () => {
  const to = "dan@example.com";
  await tell(to, "a");
  await tell(to, "b", { topic: "T" });
  const text =
    "{{ recipient }}: {% for item in items %}{{ item.text }}{% if item.topic %} ({{ item.topic }}){% endif %};{% endfor %}";
  await putEmailTemplate(database(), { id: "digest", subject: "{{ count }} news", text });
  await run("sendDigest", { recipient: to, template: { id: "digest" }, until: soon().toISOString() });
  expect(mailsTo(to)).toMatchObject([{ subject: "2 news", text: "dan@example.com: a;b (T);" }]);
});
