import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putEmailTemplate, unsuppressAddress } from "@millrace/database";
import { createFileStore } from "@millrace/file-store";
import { createLogger } from "@millrace/logger";
import { emailContract } from "@millrace/worker-config/contracts";
import { hosted, startMemoryHost } from "@millrace/worker-host/memory";
import { expect, test, vi } from "vitest";
import { useEmailWorker } from "./test/email-worker.ts";

const { handlers, inbox, database } = useEmailWorker();
const log = createLogger({ level: "silent" });

test("a reminder goes out at its time, and a mail server that asks for patience gets it", async () => {
  const reminder = { to: "ada@example.com", subject: "Tomorrow at ten", text: "See you there." };
  const memory = startMemoryHost([hosted(emailContract, handlers())], { log });
  const { jobId } = await memory.enqueue(emailContract, "sendEmail", reminder, { delayMs: 86_400_000 });
  const deferred = await memory.enqueue(emailContract, "sendEmail", { ...reminder, to: "defer-ada@example.com" });

  await memory.fastForward();

  memory.assertEnqueued(emailContract, "sendEmail", { subject: "Tomorrow at ten" }, { times: 2 });
  expect(memory.findJob("email", jobId)).toMatchObject({ status: "success", attempts: 1 });
  expect(memory.deadLetters()).toMatchObject([
    { jobId: deferred.jobId, attempts: 5, error: { code: "smtp_deferred" } },
  ]);
  expect(await memory.stop(1_000)).toEqual([]);
  expect((await inbox().waitForMessage(({ subject }) => subject === "Tomorrow at ten")).to).toEqual([
    "ada@example.com",
  ]);
});

test("a mail to many is a job for each: one bad address is its own failure, and repeats nobody's mail", async () => {
  await putEmailTemplate(database(), { id: "news", subject: "News for {{ name }}", text: "Hello {{ name }}" });
  const memory = startMemoryHost([hosted(emailContract, handlers())], { log });
  const recipients = ["ada", "reject-bob", "eve", "defer-dan"].map((name) => ({
    to: `${name}@bulk.example`,
    variables: { name },
  }));
  await memory.enqueue(emailContract, "sendBulk", { recipients, template: { id: "news", variables: { name: "you" } } });
  await memory.fastForward();

  expect(
    memory
      .deadLetters()
      .map(({ error }) => error?.code)
      .sort(),
  ).toEqual(["smtp_deferred", "smtp_unknown_recipient"]);
  const arrived = inbox()
    .messages()
    .filter(({ to }) => to[0]?.endsWith("@bulk.example"));
  expect(arrived.map(({ subject }) => subject).sort()).toEqual(["News for ada", "News for eve"]);

  await memory.enqueue(
    emailContract,
    "sendEmail",
    { to: "reject-bob@bulk.example", subject: "x", text: "x" },
    { jobId: "again" },
  );
  await memory.fastForward();
  expect(memory.findJob("email", "again")).toMatchObject({ status: "skipped", error: { code: "suppressed" } });
  expect(await memory.stop(1_000)).toEqual([]);
});

test("a dead letter whose file's time is over is a dead letter again at its replay, and says why", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-replay-"));
  const files = createFileStore({ location: { kind: "folder", folder } });
  const openAttachment = async (fileId: string) => {
    const { file, content } = await files.open(fileId);
    return { ...file, content };
  };
  const memory = startMemoryHost([hosted(emailContract, handlers({ openAttachment }))], { log });
  const day = 86_400_000;
  const { fileId } = await files.put(Buffer.from("one,1"), { name: "a.csv", contentType: "text/csv", ttlMs: day });
  const mail = { to: "reject-eve@replay.example", subject: "x", text: "x", attachments: [{ fileId }] };
  const { jobId } = await memory.enqueue(emailContract, "sendEmail", mail);
  await memory.fastForward();
  expect(memory.deadLetters()).toMatchObject([{ jobId, error: { code: "smtp_unknown_recipient" } }]);
  await unsuppressAddress(database(), "reject-eve@replay.example");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + day });
  memory.replayDeadLetter("email", jobId);
  await memory.fastForward();
  vi.useRealTimers();
  expect(memory.deadLetters()).toMatchObject([
    {
      jobId,
      error: {
        code: "attachment_missing",
        message: expect.stringMatching(`${fileId}: it was deleted, its time is over`),
      },
    },
  ]);
  expect(await memory.stop(1_000)).toEqual([]);
  await rm(folder, { recursive: true });
});
