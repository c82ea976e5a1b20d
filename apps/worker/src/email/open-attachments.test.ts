import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { OpenedFile } from "./open-attachments.ts";
import { reasonOf, useEmailWorker } from "./test/email-worker.ts";
import { answering, startScriptedSmtp } from "./test/scripted-smtp.ts";

const { run, inbox } = useEmailWorker();
const mail = (subject: string, attachments: object[]) => ({ to: "ada@example.com", subject, text: "x", attachments });
const file = (content: Readable, bytes = 5): OpenedFile => ({
  name: "a.txt",
  contentType: "text/plain",
  bytes,
  content,
});
const unavailable = Object.assign(new Error("away"), { code: "file_store_unavailable", failureKind: "transient" });
const missing = Object.assign(new Error("gone"), { code: "file_missing", failureKind: "permanent" });

test("files travel with their names, types and contents", async () => {
  const openAttachment = async (fileId: string) => ({
    ...file(Readable.from([`content of ${fileId}`])),
    contentType: "a/b",
  });
  const attachments = [{ fileId: "one" }, { fileId: "two", name: "Übersicht.txt" }];
  const server = await startScriptedSmtp(answering({}));
  await run("sendEmail", mail("With files", attachments), { openAttachment, smtpUrl: server.smtpUrl });
  server.close();
  const sent = server.lines.join("\n");
  expect(sent).toContain("Content-Type: a/b; name=a.txt");
  expect(sent).toContain("filename*0*=utf-8''%C3%9Cbersicht.txt");
  for (const fileId of ["one", "two"]) expect(sent).toContain(btoa(`content of ${fileId}`));
});

test.each([
  ["is missing", missing, { failureKind: "permanent", code: "attachment_missing" }],
  ["cannot be reached", unavailable, { failureKind: "transient", code: "attachment_unavailable" }],
])("a file that %s stops the mail, and leaves none of the others open", async (_, error, expected) => {
  const first = file(Readable.from(["x"]));
  const openAttachment = async (fileId: string) => {
    if (fileId === "second") throw error;
    return first;
  };
  const sending = run("sendEmail", mail("Never", [{ fileId: "first" }, { fileId: "second" }]), { openAttachment });
  expect(await reasonOf(sending)).toMatchObject({ ...expected, message: expect.stringContaining("second") });
  expect(first.content.destroyed).toBe(true);
});

test("a file that ends in the middle is no mail: nothing half arrives", async () => {
  const openAttachment = async () =>
    file(
      Readable.from(
        (async function* () {
          yield "half";
          throw unavailable;
        })(),
      ),
    );
  const error = await reasonOf(run("sendEmail", mail("Half", [{ fileId: "torn" }]), { openAttachment }));
  expect(error).toMatchObject({ failureKind: "transient", code: "attachment_unavailable" });
  await run("sendEmail", { to: "ada@example.com", subject: "After the half", text: "x" });
  await inbox().waitForMessage(({ subject }) => subject === "After the half");
  expect(
    inbox()
      .messages()
      .filter(({ subject }) => subject === "Half"),
  ).toEqual([]);
});

test("more than 25 MB in all is refused before anything is sent, and files are closed where the mail is not sent", async () => {
  const opened: Readable[] = [];
  const openAttachment = async () => {
    const content = Readable.from(["x"]);
    opened.push(content);
    return file(content, 13 * 1_024 * 1_024);
  };
  const tooLarge = run("sendEmail", mail("Large", [{ fileId: "a" }, { fileId: "b" }]), { openAttachment });
  expect(await reasonOf(tooLarge)).toMatchObject({ failureKind: "permanent", code: "attachments_too_large" });
  await reasonOf(run("sendEmail", mail("Off", [{ fileId: "c" }]), { openAttachment, smtpUrl: "smtp://127.0.0.1:1" }));
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
});
