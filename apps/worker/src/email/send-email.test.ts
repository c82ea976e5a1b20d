import { once } from "node:events";
import { createServer } from "node:net";
import { type Inbox, startInbox } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
import { emailContract } from "@millrace/worker-config/contracts";
import type { JobContext } from "@millrace/worker-host";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import { emailHandlers } from "./handlers.ts";
import { createMailer } from "./mailer.ts";

const schema = emailContract.actions.sendEmail.data;
let inbox: Inbox;

beforeAll(async () => {
  inbox = await startInbox();
});
afterAll(() => inbox.stop());

function context(overrides: Partial<JobContext> = {}): JobContext {
  return {
    queue: "email",
    action: "sendEmail",
    jobId: "welcome-1",
    createdAt: new Date(1_000),
    attempt: 1,
    isFinalAttempt: false,
    idempotencyKey: undefined,
    workspaceId: undefined,
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    signal: new AbortController().signal,
    log: createLogger({ level: "silent" }),
    progress: async () => {},
    enqueue: async () => ({ status: "created", jobId: "another" }),
    ...overrides,
  };
}

function send(
  data: z.input<typeof schema>,
  { smtpUrl = inbox.smtpUrl, ...overrides }: Partial<JobContext> & { smtpUrl?: string } = {},
) {
  const { sendEmail } = emailHandlers(createMailer(smtpUrl), "Shop <shop@example.com>");
  return sendEmail(schema.parse(data), context(overrides));
}

/** A mail server that says what the test wants, line by line. */
async function scriptedServer(onLine: (line: string) => string | null, greeting: string | null = "220 hi") {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (greeting !== null) socket.write(`${greeting}\r\n`);
    socket.on("data", (chunk) => {
      for (const line of chunk.toString().split("\r\n").filter(Boolean)) {
        const reply = onLine(line);
        if (reply === null) socket.destroy();
        else if (reply !== "") socket.write(`${reply}\r\n`);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { smtpUrl: `smtp://127.0.0.1:${port}`, close: () => server.close() };
}

test("a mail arrives with both parts, its sender and a Message-ID that is the job's", async () => {
  const result = await send({
    to: "ada@example.com",
    subject: "Both parts",
    html: "<p>Hello <b>Ada</b></p>",
    text: "Hello Ada",
  });
  const mail = await inbox.waitForMessage(({ subject }) => subject === "Both parts");
  expect(mail).toMatchObject({
    to: ["ada@example.com"],
    html: "<p>Hello <b>Ada</b></p>",
    from: '"Shop" <shop@example.com>',
  });
  expect(mail.text.trim()).toBe("Hello Ada");
  expect(mail.messageId).toBe("<welcome-1.1000@example.com>");
  expect(result).toEqual({ messageId: "<welcome-1.1000@example.com>" });
});

test("without a text part it is made from the HTML", async () => {
  await send({ to: "ada@example.com", subject: "HTML alone", html: "<h1>Order</h1><p>Two <i>books</i></p>" });
  const mail = await inbox.waitForMessage(({ subject }) => subject === "HTML alone");
  expect(mail.text).toMatch(/ORDER\s+Two books/);
});

test("names, sender and reply address travel as given", async () => {
  await send({
    to: { address: "ada@example.com", name: 'Ada "the" Countess, <x@y.z>' },
    from: { address: "billing@shop.example", name: "Billing" },
    replyTo: "help@shop.example",
    subject: "Ünïcode ✓",
    text: "x",
  });
  const mail = await inbox.waitForMessage(({ subject }) => subject === "Ünïcode ✓");
  expect(mail.to).toEqual(["ada@example.com"]);
  expect(mail.from).toBe('"Billing" <billing@shop.example>');
  expect(mail.headers["reply-to"]).toBe("help@shop.example");
  expect(mail.messageId).toMatch(/@shop\.example>$/);
});

test.each([
  ["to", { to: "a@example.com\r\nRCPT TO:<b@example.com>" }],
  ["to.name", { to: { address: "a@example.com", name: "x\r\nBcc: b@example.com" } }],
  ["subject", { subject: "x\nBcc: b@example.com" }],
  ["from.name", { from: { address: "a@example.com", name: "x\rBcc: b@example.com" } }],
  ["replyTo", { replyTo: "a@example.com\nBcc: b@example.com" }],
])("a line break in %s is refused before it reaches a mail server", (_, wrong) => {
  expect(schema.safeParse({ to: "ada@example.com", subject: "x", text: "x", ...wrong }).success).toBe(false);
});

test("a mail without any part is refused", () => {
  expect(schema.safeParse({ to: "ada@example.com", subject: "x" }).success).toBe(false);
});

test.each([
  ["reject-ada@example.com", { failureKind: "permanent", code: "smtp_rejected" }],
  ["defer-ada@example.com", { failureKind: "transient", code: "smtp_deferred" }],
])("a refusal of %s is told apart, and its address is not repeated", async (to, expected) => {
  const error = await send({ to, subject: "x", text: "x" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject(expected);
  expect(String(error)).not.toContain("example.com");
});

test.each([
  ["a full mailbox", "552 5.2.2 over quota for ada@example.com", { failureKind: "permanent", code: "smtp_rejected" }],
  ["a busy one", "450 4.2.0 try later", { failureKind: "transient", code: "smtp_deferred" }],
  ["a service that shuts down", "421 4.3.2 going down", { failureKind: "transient", code: "smtp_deferred" }],
])("%s after the content is told apart", async (_, reply, expected) => {
  const server = await scriptedServer((line) =>
    /^(EHLO|MAIL|RCPT)/.test(line) ? "250 ok" : line === "DATA" ? "354 go" : line === "." ? reply : "",
  );
  const error = await send({ to: "ada@example.com", subject: "x", text: "x" }, { smtpUrl: server.smtpUrl }).catch(
    (thrown: unknown) => thrown,
  );
  server.close();
  expect(error).toMatchObject(expected);
  expect(String(error)).not.toContain("ada@example.com");
});

test("wrong credentials are permanent, with a code of their own", async () => {
  const server = await scriptedServer((line) =>
    line.startsWith("EHLO") ? "250-hi\r\n250 AUTH PLAIN" : line.startsWith("AUTH") ? "535 5.7.8 no" : "250 ok",
  );
  const smtpUrl = server.smtpUrl.replace("//", "//user:secret@");
  const error = await send({ to: "ada@example.com", subject: "x", text: "x" }, { smtpUrl }).catch(
    (thrown: unknown) => thrown,
  );
  server.close();
  expect(error).toMatchObject({ failureKind: "permanent", code: "smtp_auth" });
  expect(String(error)).not.toContain("secret");
});

test.each([
  ["nobody listens", "smtp://127.0.0.1:1"],
  ["the name does not exist", "smtp://mail.invalid:25"],
])("a mail server that is not there because %s is tried again", async (_, smtpUrl) => {
  await expect(send({ to: "ada@example.com", subject: "x", text: "x" }, { smtpUrl })).rejects.toMatchObject({
    failureKind: "transient",
    code: "smtp_unreachable",
  });
});

test("a connection that breaks after the content is tried again", async () => {
  const server = await scriptedServer((line) =>
    /^(EHLO|MAIL|RCPT)/.test(line) ? "250 ok" : line === "DATA" ? "354 go" : line === "." ? null : "",
  );
  const sending = send({ to: "ada@example.com", subject: "x", text: "x" }, { smtpUrl: server.smtpUrl });
  await expect(sending).rejects.toMatchObject({ failureKind: "transient" });
  server.close();
});

test("an aborted signal cuts the connection to a silent server", async () => {
  const asked = Promise.withResolvers<void>();
  const server = await scriptedServer((line) => {
    if (line.startsWith("EHLO")) asked.resolve();
    return "";
  });
  const controller = new AbortController();
  const sending = send(
    { to: "ada@example.com", subject: "x", text: "x" },
    { smtpUrl: server.smtpUrl, signal: controller.signal },
  );
  await asked.promise;
  controller.abort(new Error("time is up"));
  await expect(sending).rejects.toThrow();
  server.close();
});
