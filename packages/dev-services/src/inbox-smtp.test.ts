import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMailer, plainMail } from "../test/mailer.ts";
import { beginMail, connectSmtp } from "../test/raw-smtp.ts";
import { type Inbox, startInbox } from "./inbox.ts";

let inbox: Inbox;

beforeEach(async () => {
  inbox = await startInbox();
});

afterEach(() => inbox.stop());

async function send(mail: object) {
  return createMailer(inbox.smtpUrl).sendMail({ ...plainMail, ...mail });
}

test("a mail is kept with its envelope, its parts, its id and its headers", async () => {
  const { messageId } = await send({
    to: "Bob <bob@example.com>",
    bcc: "secret@example.com",
    subject: "Grüße",
    text: "plain",
    html: "<p>rich</p>",
    attachments: [{ filename: "order.csv", content: "a,b\n" }],
    headers: { "x-tag": ["one", "two"] },
  });
  expect(inbox.messages()).toEqual([
    {
      id: "1",
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      from: '"Ann" <ann@example.com>',
      to: ["bob@example.com", "secret@example.com"],
      subject: "Grüße",
      text: expect.stringMatching(/^plain\s*$/),
      html: expect.stringContaining("<p>rich</p>"),
      attachments: [{ name: "order.csv", contentType: "text/csv", bytes: 4 }],
      messageId,
      headers: expect.objectContaining({ "x-tag": "one\ntwo", to: "Bob <bob@example.com>" }),
    },
  ]);
});

test("a mail without HTML has none, and one without a subject or a sender in its header is kept", async () => {
  const client = await beginMail(inbox.smtpUrl);
  expect(await client.say("\r\njust text\r\n.")).toMatch(/^250/);
  client.socket.destroy();
  expect(inbox.messages()[0]).toMatchObject({ html: null, subject: "", from: "a@example.com", text: "just text\n" });
});

describe("refusals", () => {
  test("reject-…@ is refused for good", async () => {
    await expect(send({ to: "reject-me@example.com" })).rejects.toMatchObject({ responseCode: 550 });
    expect(inbox.messages()).toEqual([]);
  });

  test("defer-…@ is refused for now", async () => {
    await expect(send({ to: "Defer-me@example.com" })).rejects.toMatchObject({ responseCode: 451 });
    expect(inbox.messages()).toEqual([]);
  });

  test("one refused recipient does not keep the mail from the others", async () => {
    const { rejected } = await send({ to: ["reject-me@example.com", "bob@example.com"] });
    expect(rejected).toEqual(["reject-me@example.com"]);
    expect(inbox.messages()[0]?.to).toEqual(["bob@example.com"]);
  });

  test("a mail announced as larger than 25 MB is refused with 552 before it is sent", async () => {
    const client = await connectSmtp(inbox.smtpUrl);
    expect(await client.say(`MAIL FROM:<a@example.com> SIZE=${26 * 1024 * 1024}`)).toMatch(/^552/);
    client.socket.destroy();
  });

  test("a mail that turns out larger than 25 MB is refused with 552, not kept, and the next one is taken", async () => {
    const client = await beginMail(inbox.smtpUrl);
    const line = `${"x".repeat(998)}\r\n`;
    client.socket.write(`Subject: large\r\n\r\n${line.repeat(26 * 1024)}`);
    const answered = client.answer();
    client.socket.write("\r\n.\r\n");
    expect(await answered).toMatch(/^552/);
    client.socket.destroy();
    await send({ subject: "next" });
    expect(inbox.messages().map(({ subject }) => subject)).toEqual(["next"]);
  });
});

describe("clients that misbehave", () => {
  test("one that goes away in the middle of a mail leaves no half mail, and the next mail is taken", async () => {
    const client = await beginMail(inbox.smtpUrl);
    client.socket.write("Subject: half\r\n\r\nThe first half of");
    client.socket.resetAndDestroy();
    await once(client.socket, "close");
    const polite = await beginMail(inbox.smtpUrl);
    polite.socket.end("Subject: half too\r\n\r\nThe first half of");
    await once(polite.socket, "close");
    await send({ subject: "whole" });
    expect(inbox.messages().map(({ subject }) => subject)).toEqual(["whole"]);
  });

  test("one that sends no mail at all but noise is taken or refused, and the next mail is taken", async () => {
    const client = await beginMail(inbox.smtpUrl);
    const noise = `Content-Type: multipart/mixed; boundary=x\r\n: \r\n\0ÿ\r\n--x\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%\r\n.`;
    expect(await client.say(noise)).toMatch(/^[25]/);
    client.socket.destroy();
    await send({ subject: "next" });
    expect(inbox.messages()[0]?.subject).toBe("next");
  });

  test("one that stays connected does not hold up stop", async () => {
    const idle = await connectSmtp(inbox.smtpUrl);
    const busy = await beginMail(inbox.smtpUrl);
    const ended = Promise.all([once(idle.socket, "close"), once(busy.socket, "close")]);
    const startedAt = performance.now();
    await inbox.stop();
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await ended;
  });
});
