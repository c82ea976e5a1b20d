import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createMailer, plainMail } from "../test/mailer.ts";
import { type Inbox, startInbox } from "./inbox.ts";

const open: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

async function start(options: Parameters<typeof startInbox>[0] = {}): Promise<Inbox> {
  const inbox = await startInbox(options);
  open.push(inbox);
  return inbox;
}

/** A port that somebody else holds. */
async function takenPort(): Promise<number> {
  const server: Server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({ stop: async () => void server.close() });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a port");
  return address.port;
}

const portOf = (url: string) => Number(new URL(url).port);

test("two inboxes stand side by side, each with its own mail", async () => {
  const [one, other] = await Promise.all([start(), start()]);
  await createMailer(one.smtpUrl).sendMail(plainMail);
  expect(one.messages()).toHaveLength(1);
  expect(other.messages()).toEqual([]);
});

test("a mail that comes later ends a wait for it", async () => {
  const inbox = await start();
  const waited = inbox.waitForMessage(({ to }) => to.includes("bob@example.com"));
  await createMailer(inbox.smtpUrl).sendMail(plainMail);
  await expect(waited).resolves.toMatchObject({ subject: "Hello" });
});

describe("a port that is taken", () => {
  test("is an error that names the port and its variable, and leaves nothing open", async () => {
    const port = await takenPort();
    await expect(startInbox({ smtpPort: port })).rejects.toThrow(new RegExp(`${port} \\(DEV_INBOX_SMTP_PORT\\)`));
    const freed = await start();
    await freed.stop();
    const failed = startInbox({ smtpPort: portOf(freed.smtpUrl), httpPort: port });
    await expect(failed).rejects.toThrow(new RegExp(`${port} \\(DEV_INBOX_HTTP_PORT\\)`));
    // The SMTP half of the failed start has given its port back.
    await expect(start({ smtpPort: portOf(freed.smtpUrl) })).resolves.toHaveProperty("smtpUrl", freed.smtpUrl);
  });

  test("gives way to a free one where that is asked for", async () => {
    const [smtpPort, httpPort] = await Promise.all([takenPort(), takenPort()]);
    const inbox = await start({ smtpPort, httpPort, fallBackToFreePort: true });
    expect([portOf(inbox.smtpUrl), portOf(inbox.httpUrl)]).not.toContain(smtpPort);
    expect((await fetch(inbox.httpUrl)).status).toBe(200);
    await createMailer(inbox.smtpUrl).sendMail(plainMail);
    expect(inbox.messages()).toHaveLength(1);
  });
});

test("stop returns while a browser holds its connection open, and the ports are free again", async () => {
  const inbox = await start();
  await (await fetch(inbox.httpUrl)).text();
  await inbox.stop();
  await expect(fetch(inbox.httpUrl)).rejects.toThrow();
  const again = await start({ smtpPort: portOf(inbox.smtpUrl), httpPort: portOf(inbox.httpUrl) });
  expect(again.httpUrl).toBe(inbox.httpUrl);
});
