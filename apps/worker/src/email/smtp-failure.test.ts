import { expect, test } from "vitest";
import { createMailer } from "./mailer.ts";
import { reasonOf } from "./test/email-worker.ts";
import { answering, startScriptedSmtp } from "./test/scripted-smtp.ts";

const mail = {
  messageId: "<job@example.com>",
  from: "Shop <shop@example.com>",
  to: { name: "", address: "ada@example.com" },
  subject: "x",
  text: "x",
};
const never = new AbortController().signal;
const sendTo = (smtpUrl: string, signal = never) => createMailer(smtpUrl)(mail, signal);

const permanent = (code: string) => ({ failureKind: "permanent", code });
const transient = (code: string) => ({ failureKind: "transient", code });

test.each([
  ["an unknown mailbox", { RCPT: "550 5.1.1 no such ada@example.com" }, permanent("smtp_unknown_recipient")],
  ["a recipient refused without a reason", { RCPT: "550 no" }, permanent("smtp_rejected")],
  ["a sender refused", { MAIL: "550 5.7.1 not you" }, permanent("smtp_rejected")],
  ["a recipient who is busy", { RCPT: "451 4.2.1 later" }, transient("smtp_deferred")],
  ["too many mails", { MAIL: "421 4.7.0 too many" }, transient("smtp_deferred")],
  ["a full mailbox", { ".": "552 5.2.2 over quota for ada@example.com" }, permanent("smtp_rejected")],
  ["a content refused", { ".": "554 5.6.0 spam" }, permanent("smtp_rejected")],
  ["a busy server after the content", { ".": "450 4.2.0 try later" }, transient("smtp_deferred")],
  ["a service that shuts down", { ".": "421 4.3.2 going down" }, transient("smtp_deferred")],
  ["a connection cut before the content", { DATA: null }, transient("smtp_unreachable")],
  ["a connection cut before the answer to the content", { ".": null }, transient("smtp_unconfirmed")],
])("%s is told apart, and nobody's address is repeated", async (_, replies, expected) => {
  const server = await startScriptedSmtp(answering(replies));
  const error = await reasonOf(sendTo(server.smtpUrl));
  server.close();
  expect(error).toMatchObject(expected);
  expect(String(error)).not.toContain("example.com");
});

test.each([
  ["wrong", "535 5.7.8 no", permanent("smtp_auth")],
  ["not to be checked for now", "454 4.7.0 later", transient("smtp_deferred")],
])("credentials that are %s", async (_, reply, expected) => {
  const server = await startScriptedSmtp(answering({ EHLO: "250-hi\r\n250 AUTH PLAIN", AUTH: reply }));
  const error = await reasonOf(sendTo(server.smtpUrl.replace("//", "//user:secret@")));
  server.close();
  expect(error).toMatchObject(expected);
  expect(String(error)).not.toContain("secret");
});

test.each([
  ["nobody listens", "smtp://127.0.0.1:1"],
  ["the name does not exist", "smtp://mail.invalid:25"],
])("a mail server that is not there because %s is tried again", async (_, smtpUrl) => {
  expect(await reasonOf(sendTo(smtpUrl))).toMatchObject(transient("smtp_unreachable"));
});

test("an aborted signal cuts the connection to a silent server", async () => {
  const asked = Promise.withResolvers<void>();
  const server = await startScriptedSmtp((line) => {
    if (line.startsWith("EHLO")) asked.resolve();
    return "";
  });
  const controller = new AbortController();
  const sending = sendTo(server.smtpUrl, controller.signal);
  await asked.promise;
  controller.abort(new Error("time is up"));
  await expect(sending).rejects.toThrow();
  server.close();
});

test("a connection that breaks fails one mail: the next has its own", async () => {
  let isBroken = false;
  const server = await startScriptedSmtp((line) => {
    if (!line.startsWith("RCPT") || isBroken) return answering({})(line);
    isBroken = true;
    return null;
  });
  const sent = await Promise.allSettled([sendTo(server.smtpUrl), sendTo(server.smtpUrl), sendTo(server.smtpUrl)]);
  server.close();
  expect(sent.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "rejected"]);
});
