import { emailContract } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { createMailer, type Mail } from "./mailer.ts";
import { answering, startScriptedSmtp } from "./test/scripted-smtp.ts";

const { sendEmail, sendBulk, sendDigest } = emailContract.actions;
const breaks = ["\r\n", "\n", "\r"];
const content = { subject: "x", text: "x" };
const mail = { to: "ada@example.com", ...content };
const address = "a@example.com";
const fileId = "file_00000000-0000-8000-8000-000000000000";

/** Each field that a mail's writer fills: its schema, data that holds a value there, and a value that is fine. */
const fields: [
  field: string,
  schema: { safeParse(data: unknown): { success: boolean } },
  data: (value: string) => unknown,
  fine: string,
][] = [
  ["to", sendEmail.data, (to) => ({ ...mail, to }), address],
  ["to.address", sendEmail.data, (value) => ({ ...mail, to: { address: value } }), address],
  ["to.name", sendEmail.data, (name) => ({ ...mail, to: { address, name } }), "Ada"],
  ["subject", sendEmail.data, (subject) => ({ ...mail, subject }), "x"],
  ["from.address", sendEmail.data, (value) => ({ ...mail, from: { address: value } }), address],
  ["from.name", sendEmail.data, (name) => ({ ...mail, from: { address, name } }), "Shop"],
  ["replyTo", sendEmail.data, (replyTo) => ({ ...mail, replyTo }), address],
  ["a header's value", sendEmail.data, (value) => ({ ...mail, headers: { "List-Id": value } }), "x"],
  ["a header's name", sendEmail.data, (name) => ({ ...mail, headers: { [name]: "x" } }), "List-Id"],
  ["an attachment's name", sendEmail.data, (name) => ({ ...mail, attachments: [{ fileId, name }] }), "a.txt"],
  ["an attachment's id", sendEmail.data, (value) => ({ ...mail, attachments: [{ fileId: value }] }), fileId],
  ["a template's id", sendEmail.data, (id) => ({ to: address, template: { id } }), "welcome"],
  ["a template's locale", sendEmail.data, (locale) => ({ to: address, template: { id: "x", locale } }), "de"],
  ["a bulk recipient's name", sendBulk.data, (name) => ({ recipients: [{ to: address, name }], ...content }), "Ada"],
  ["a bulk subject", sendBulk.data, (subject) => ({ recipients: [{ to: address }], ...content, subject }), "x"],
  ["a digest's recipient", sendDigest.data, (recipient) => ({ recipient }), address],
  ["a digest's sender", sendDigest.data, (value) => ({ recipient: address, from: { address: value } }), address],
  ["a digest's header", sendDigest.data, (value) => ({ recipient: address, headers: { "List-Id": value } }), "x"],
];

test.each(fields)("a line break in %s is refused before it reaches Redis", (_, schema, data, fine) => {
  expect(schema.safeParse(data(fine)).success).toBe(true);
  for (const lineBreak of breaks) {
    for (const injected of ["RCPT TO:<eve@example.com>", "Bcc: eve@example.com", ""]) {
      expect(schema.safeParse(data(`${fine}${lineBreak}${injected}`)).success).toBe(false);
    }
  }
});

test.each([
  "Bcc",
  "bcc",
  "To",
  "Cc",
  "From",
  "Sender",
  "Reply-To",
  "Subject",
  "Message-ID",
  "Content-Type",
  "X-Mailer",
])("the header %s is not for the payload to set", (name) => {
  expect(sendEmail.data.safeParse({ ...mail, headers: { [name]: "eve@example.com" } }).success).toBe(false);
});

const plain: Mail = {
  messageId: "<job@example.com>",
  from: { name: "Shop", address: "shop@example.com" },
  to: { name: "Ada", address: "ada@example.com" },
  subject: "x",
  text: "x",
};
const evil = "x\r\nBcc: eve@example.com\nX-Evil: 1\rX-Evil: 2\0\u2028";
const evilAddress = "a@example.com>\r\nRCPT TO:<eve@example.com";

const recipientsOf = (lines: readonly string[]) => lines.filter((text) => /^RCPT TO/i.test(text));

test("a mail that is as it should be has its one recipient, so that the tests below look where commands are", async () => {
  const server = await startScriptedSmtp(answering({}));
  await createMailer(server.smtpUrl)(plain, new AbortController().signal);
  server.close();
  expect(recipientsOf(server.lines)).toEqual(["RCPT TO:<ada@example.com>"]);
});

/** What the mailer makes of a field that nobody checked, such as one that a template rendered. */
test.each<[field: string, mail: Mail]>([
  ["subject", { ...plain, subject: evil }],
  ["to.name", { ...plain, to: { name: evil, address: "ada@example.com" } }],
  ["to.address", { ...plain, to: { name: "", address: evilAddress } }],
  ["from.name", { ...plain, from: { name: evil, address: "shop@example.com" } }],
  ["from.address", { ...plain, from: { name: "", address: evilAddress } }],
  ["replyTo", { ...plain, replyTo: evilAddress }],
  ["messageId", { ...plain, messageId: `<${evil}@example.com>` }],
  ["a header", { ...plain, headers: { "List-Id": evil } }],
])("the mailer lets no command and no header out of %s", async (_, mailOf) => {
  const server = await startScriptedSmtp(answering({}));
  // To refuse it is as good as to send it harmless.
  await createMailer(server.smtpUrl)(mailOf, new AbortController().signal).catch(() => {});
  server.close();
  expect(recipientsOf(server.lines).length).toBeLessThanOrEqual(1);
  expect(server.lines.filter((text) => /^(bcc|x-evil)\s*:/i.test(text))).toEqual([]);
  expect(server.lines.filter((text) => /^RCPT.*<eve@/i.test(text))).toEqual([]);
});
