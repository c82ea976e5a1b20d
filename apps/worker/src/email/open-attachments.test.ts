import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createFileStore } from "@millrace/file-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OpenedFile, openAttachments } from "./open-attachments.ts";
import { reasonOf, useEmailWorker } from "./test/email-worker.ts";
import { answering, startScriptedSmtp } from "./test/scripted-smtp.ts";

const { run, inbox } = useEmailWorker();
const mail = (subject: string, attachments: object[]) => ({ to: "ada@example.com", subject, text: "x", attachments });
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-attachments-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** A real store, as the worker opens its files. */
function useFiles() {
  const files = createFileStore({ location: { kind: "folder", folder } });
  const openAttachment = async (fileId: string, signal: AbortSignal) => {
    const { file, content } = await files.open(fileId, { signal });
    return { ...file, content };
  };
  const put = async (text: string, name = "a.txt") =>
    (await files.put(Buffer.from(text), { name, contentType: "text/csv" })).fileId;
  return { files, openAttachment, put };
}

test("files travel with their names, types and contents", async () => {
  const { openAttachment, put } = useFiles();
  const attachments = [{ fileId: await put("one,1") }, { fileId: await put("two,2"), name: "Übersicht.csv" }];
  const server = await startScriptedSmtp(answering({}));
  await run("sendEmail", mail("With files", attachments), { openAttachment, smtpUrl: server.smtpUrl });
  server.close();
  const sent = server.lines.join("\n");
  expect(sent).toContain("Content-Type: text/csv; name=a.txt");
  expect(sent).toContain("filename*0*=utf-8''%C3%9Cbersicht.csv");
  for (const text of ["one,1", "two,2"]) expect(sent.includes(text) || sent.includes(btoa(text))).toBe(true);
});

test("a file that is gone is a permanent failure that names it, and no mail", async () => {
  const { files, openAttachment, put } = useFiles();
  const [kept, gone] = [await put("kept"), await put("gone")];
  await files.delete(gone);
  const sending = run("sendEmail", mail("Never", [{ fileId: kept }, { fileId: gone }]), { openAttachment });
  expect(await reasonOf(sending)).toMatchObject({
    failureKind: "permanent",
    code: "attachment_missing",
    message: expect.stringContaining(gone),
  });
});

const away = Object.assign(new Error("away"), { code: "file_store_unavailable", failureKind: "transient" });
const opened = (content: Readable, bytes = 5): OpenedFile => ({ name: "a", contentType: "text/csv", bytes, content });
const never = new AbortController().signal;

test("a store that does not answer is tried again, and no file stays open", async () => {
  const first = Readable.from(["x"]);
  const open = async (fileId: string) => {
    if (fileId === "second") throw away;
    return opened(first);
  };
  const opening = openAttachments(open, [{ fileId: "first" }, { fileId: "second" }], never);
  expect(await reasonOf(opening)).toMatchObject({ failureKind: "transient", code: "attachment_unavailable" });
  expect(first.destroyed).toBe(true);
});

test("a file that ends in the middle is no mail: nothing half arrives", async () => {
  const openAttachment = async () =>
    opened(
      Readable.from(
        (async function* () {
          yield "half";
          throw away;
        })(),
      ),
    );
  const fileId = await useFiles().put("any");
  const error = await reasonOf(run("sendEmail", mail("Half", [{ fileId }]), { openAttachment }));
  expect(error).toMatchObject({ failureKind: "transient", code: "attachment_unavailable" });
  await run("sendEmail", { to: "ada@example.com", subject: "After the half", text: "x" });
  await inbox().waitForMessage(({ subject }) => subject === "After the half");
  expect(
    inbox()
      .messages()
      .filter(({ subject }) => subject === "Half"),
  ).toEqual([]);
});

test("more than 25 MB in all is refused, and files are closed where the mail is not sent", async () => {
  const contents: Readable[] = [];
  const openAttachment = async () => {
    const content = Readable.from(["x"]);
    contents.push(content);
    return opened(content, 13 * 1_024 * 1_024);
  };
  const tooLarge = openAttachments(openAttachment, [{ fileId: "a" }, { fileId: "b" }], never);
  expect(await reasonOf(tooLarge)).toMatchObject({ failureKind: "permanent", code: "attachments_too_large" });
  const fileId = await useFiles().put("any");
  await reasonOf(run("sendEmail", mail("Off", [{ fileId }]), { openAttachment, smtpUrl: "smtp://127.0.0.1:1" }));
  expect(contents.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
});
