import { emailContract } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { createMailer, type Mail } from "./mailer.ts";
import { answering, startScriptedSmtp } from "./test/scripted-smtp.ts";

const { sendEmail, sendBulk, sendDigest } = emailContract.actions;
const breaks = ["\r\n", "\n", "\r"];
const address = (between: string) => `a@example.com${between}RCPT TO:<eve@example.com>`;
const line = (between: string) => `x${between}Bcc: eve@example.com`;
const content = { subject: "x", text: "x" };
const mail = { to: "ada@example.com", ...content };

/** Each field that a mail's writer fills, and what the contract says of a line break in it. */
const fields: [
  field: string,
  schema: { safeParse(data: unknown): { success: boolean } },
  data: (b: string) => unknown,
][] = [
  ["to", sendEmail.data, (b) => ({ ...mail, to: address(b) })],
  ["to.address", sendEmail.data, (b) => ({ ...mail, to: { address: address(b) } })],
  ["to.name", sendEmail.data, (b) => ({ ...mail, to: { address: "a@example.com", name: line(b) } })],
  ["subject", sendEmail.data, (b) => ({ ...mail, subject: line(b) })],
  ["from.address", sendEmail.data, (b) => ({ ...mail, from: { address: address(b) } })],
  ["from.name", sendEmail.data, (b) => ({ ...mail, from: { address: "a@example.com", name: line(b) } })],
  ["replyTo", sendEmail.data, (b) => ({ ...mail, replyTo: address(b) })],
  ["a header's value", sendEmail.data, (b) => ({ ...mail, headers: { "List-Id": line(b) } })],
  ["a header's name", sendEmail.data, (b) => ({ ...mail, headers: { [`List-Id: x${b}Bcc`]: "eve@example.com" } })],
  ["an attachment's name", sendEmail.data, (b) => ({ ...mail, attachments: [{ fileId: "f", name: line(b) }] })],
  ["a template's id", sendEmail.data, (b) => ({ to: "a@example.com", template: { id: line(b) } })],
  ["a template's locale", sendEmail.data, (b) => ({ to: "a@example.com", template: { id: "x", locale: `de${b}x` } })],
  [
    "a bulk recipient's name",
    sendBulk.data,
    (b) => ({ recipients: [{ to: "a@example.com", name: line(b) }], ...content }),
  ],
  ["a bulk subject", sendBulk.data, (b) => ({ recipients: [{ to: "a@example.com" }], ...content, subject: line(b) })],
  ["a digest's recipient", sendDigest.data, (b) => ({ recipient: address(b) })],
  ["a digest's sender", sendDigest.data, (b) => ({ recipient: "a@example.com", from: { address: address(b) } })],
  ["a digest's header", sendDigest.data, (b) => ({ recipient: "a@example.com", headers: { "List-Id": line(b) } })],
];

test.each(fields)("a line break in %s is refused before it reaches Redis", (_, schema, data) => {
  for (const lineBreak of breaks) expect(schema.safeParse(data(lineBreak)).success).toBe(false);
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
  expect(server.lines.filter((text) => /^RCPT TO/i.test(text)).length).toBeLessThanOrEqual(1);
  expect(server.lines.filter((text) => /^(bcc|x-evil)\s*:/i.test(text))).toEqual([]);
  expect(server.lines.filter((text) => /^RCPT.*<eve@/i.test(text))).toEqual([]);
});
