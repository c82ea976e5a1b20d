import { connectDatabase, findSuppression, suppressAddress, wasSent } from "@millrace/database";
import { createLogger } from "@millrace/logger";
import { expect, test } from "vitest";
import { createDeliver } from "./deliver.ts";
import { jobContext, reasonOf, useEmailWorker } from "./test/email-worker.ts";
import { answering, startScriptedSmtp } from "./test/scripted-smtp.ts";

const { run, inbox, database } = useEmailWorker();
const mailTo = (to: string, subject = "x") => ({ to, subject, text: "x" });
const arrivedWith = (wanted: string) =>
  inbox()
    .messages()
    .filter(({ subject }) => subject === wanted);

test("a recipient who gets no mail is skipped in whatever case the address is written, and the mail server not asked", async () => {
  await suppressAddress(database(), { address: "ada@example.com", reason: "unsubscribed" });
  const skipped = await reasonOf(run("sendEmail", mailTo("Ada@Example.com"), { smtpUrl: "smtp://127.0.0.1:1" }));
  expect(skipped).toMatchObject({
    isSkip: true,
    code: "suppressed",
    message: "The recipient gets no mail (unsubscribed).",
  });
});

test("a recipient whom the mail server does not know gets no further mail", async () => {
  expect(await reasonOf(run("sendEmail", mailTo("reject-bob@example.com"), { jobId: "first" }))).toMatchObject({
    failureKind: "permanent",
    code: "smtp_unknown_recipient",
  });
  expect(await findSuppression(database(), "reject-bob@example.com")).toMatchObject({
    reason: "rejected",
    code: "5.1.1",
    jobId: "first",
  });
  const again = await reasonOf(run("sendEmail", mailTo("reject-bob@example.com")));
  expect(again).toMatchObject({ isSkip: true, code: "suppressed", message: expect.stringContaining("5.1.1") });
});

test.each([
  ["an unknown mailbox", { RCPT: "553 5.1.3 bad address" }, true],
  ["a full mailbox", { RCPT: "552 5.2.2 over quota" }, false],
  ["a policy about us", { RCPT: "550 5.7.1 blocked" }, false],
  ["no word of why", { RCPT: "550 no" }, false],
  ["our own address", { RCPT: "550 5.1.8 bad sender" }, false],
  ["our own address, where it is named", { MAIL: "550 5.1.1 no such sender" }, false],
  ["the content", { ".": "550 5.1.1 refused" }, false],
  ["a mailbox that may come back", { RCPT: "450 4.1.1 unknown for now" }, false],
])(
  "a rejection because of %s suppresses the recipient only where it is the recipient's",
  async (_, replies, suppresses) => {
    const server = await startScriptedSmtp(answering(replies));
    const to = `${JSON.stringify(replies).replace(/\W/g, "").toLowerCase()}@example.com`;
    await reasonOf(run("sendEmail", mailTo(to), server));
    server.close();
    expect((await findSuppression(database(), to)) !== undefined).toBe(suppresses);
  },
);

test("a job that runs again after its mail was taken sends no second one, and answers as before", async () => {
  const job = { jobId: "crashed", createdAt: new Date(5) };
  const first = await run("sendEmail", mailTo("ada2@example.com", "Once"), job);
  expect(await run("sendEmail", mailTo("ada2@example.com", "Once"), { ...job, attempt: 2 })).toEqual(first);
  expect(arrivedWith("Once")).toHaveLength(1);
  // Its sender has changed in between, and with it the domain of its Message-ID.
  const moved = { ...job, attempt: 2, defaultFrom: "Shop <shop@elsewhere.example>" };
  await run("sendEmail", mailTo("ada2@example.com", "Once"), moved);
  expect(arrivedWith("Once")).toHaveLength(1);
  expect(await wasSent(database(), "crashed.5")).toBe(true);
  await run("sendEmail", mailTo("ada2@example.com", "Once"), { ...job, createdAt: new Date(6) });
  expect(arrivedWith("Once")).toHaveLength(2);
  await suppressAddress(database(), { address: "ada2@example.com", reason: "unsubscribed" });
  expect(await run("sendEmail", mailTo("ada2@example.com", "Once"), { ...job, attempt: 3 })).toEqual(first);
});

test("a mail that was not taken is not recorded as sent", async () => {
  const job = { jobId: "deferred", createdAt: new Date(5) };
  await reasonOf(run("sendEmail", mailTo("defer-ada@example.com"), job));
  expect(await wasSent(database(), "deferred.5")).toBe(false);
});

test("where the database is away nothing is sent, and the job waits without using up an attempt", async () => {
  const away = connectDatabase({ url: "postgres://nobody@127.0.0.1:1/nothing" });
  const lost = createDeliver({
    database: away,
    sendMail: async () => expect.fail("nothing may be sent"),
    openAttachment: async () => expect.fail("nothing may be opened"),
  });
  const letter = { messageId: "<a@b>", from: "a@b.c", to: { name: "", address: "ada@example.com" } };
  const compose = async () => ({ subject: "x", text: "x" });
  const error = await reasonOf(lost({ ...letter, compose }, jobContext("sendEmail")));
  expect(error).toMatchObject({ failureKind: "contention", code: "database_unavailable" });
  await away.close();
});

/** A mail whose record fails so many times. */
async function sendUnrecorded(failures: number) {
  const lines: string[] = [];
  const log = createLogger({ level: "error", destination: { write: (line) => void lines.push(line) } });
  let sent = 0;
  let tries = 0;
  const deliver = createDeliver({
    database: database(),
    sendMail: async () => {
      sent += 1;
    },
    openAttachment: async () => expect.fail("nothing may be opened"),
  });
  const record = async () => {
    tries += 1;
    if (tries <= failures) throw new Error("away");
  };
  const compose = async () => ({ subject: "x", text: "x" });
  const letter = { messageId: "<unrecorded@b>", from: "a@b.c", to: { name: "", address: "amy@example.com" } };
  await deliver({ ...letter, compose, record }, jobContext("sendEmail", { log }));
  return { sent, tries, logged: lines.join("") };
}

test("a mail that is out and cannot be recorded is no failure: another attempt would send it again", async () => {
  const { sent, logged } = await sendUnrecorded(Number.POSITIVE_INFINITY);
  expect(sent).toBe(1);
  expect(logged).toContain("sent_not_recorded");
  expect(logged).not.toContain("amy@example.com");
});

test("a record that fails for a moment is tried again, so that a digest is not in the next one as well", async () => {
  expect(await sendUnrecorded(2)).toEqual({ sent: 1, tries: 3, logged: "" });
});

test("a mail server that has had its share is left alone until the job's turn", async () => {
  const asked: string[] = [];
  const takeTurn = async (holder: string) => {
    asked.push(holder);
    return asked.length === 1 ? 1_500 : 0;
  };
  const job = { jobId: "patient", takeTurn };
  expect(await reasonOf(run("sendEmail", mailTo("ada3@example.com", "Patient"), job))).toMatchObject({
    failureKind: "rate_limited",
    code: "smtp_rate_limited",
    retryAfterMs: 1_500,
  });
  expect(arrivedWith("Patient")).toHaveLength(0);
  await run("sendEmail", mailTo("ada3@example.com", "Patient"), job);
  expect(arrivedWith("Patient")).toHaveLength(1);
  expect(asked).toEqual(["patient", "patient"]);
});
