import { expect, test } from "vitest";
import { createMailbox } from "./inbox-mailbox.ts";

function mail(subject: string) {
  const empty = { from: "", to: [], text: "", html: null, attachments: [], messageId: null, headers: {} };
  return { ...empty, subject, receivedAt: new Date(0).toISOString() };
}

test("waiting ends with a mail that is here already", async () => {
  const mailbox = createMailbox();
  mailbox.add(mail("here"));
  await expect(mailbox.waitFor(({ subject }) => subject === "here")).resolves.toMatchObject({ subject: "here" });
});

test("waiting ends with the first mail that matches, not with the first that comes", async () => {
  const mailbox = createMailbox();
  const waited = mailbox.waitFor(({ subject }) => subject === "right");
  mailbox.add(mail("wrong"));
  mailbox.add(mail("right"));
  await expect(waited).resolves.toMatchObject({ id: "2", subject: "right" });
});

test("waiting in vain ends with what was expected and what is here instead", async () => {
  const mailbox = createMailbox();
  mailbox.add(mail("another"));
  const waited = mailbox.waitFor(({ subject }) => subject === "right", 10);
  await expect(waited).rejects.toThrow(/within 10 ms.*"another"/);
});

test("a condition that throws fails its own wait, and neither the mail's delivery nor another wait", async () => {
  const mailbox = createMailbox();
  const broken = mailbox.waitFor(() => {
    throw new Error("broken condition");
  });
  const sound = mailbox.waitFor(() => true);
  expect(() => mailbox.add(mail("one"))).not.toThrow();
  await expect(broken).rejects.toThrow("broken condition");
  await expect(sound).resolves.toMatchObject({ subject: "one" });
});

test("only the newest 500 mails are kept, and an id is never given twice", () => {
  const mailbox = createMailbox();
  for (let index = 1; index <= 510; index++) mailbox.add(mail(`${index}`));
  expect(mailbox.list()).toHaveLength(500);
  expect(mailbox.list()[0]).toMatchObject({ id: "510", subject: "510" });
  expect(mailbox.list().at(-1)).toMatchObject({ id: "11" });
  mailbox.clear();
  mailbox.add(mail("after"));
  expect(mailbox.list()).toMatchObject([{ id: "511" }]);
});

test("a list once given out does not change under its reader", () => {
  const mailbox = createMailbox();
  mailbox.add(mail("one"));
  const list = mailbox.list();
  mailbox.clear();
  expect(list).toHaveLength(1);
});
