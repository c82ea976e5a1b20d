import { putEmailTemplate } from "@millrace/database";
import { createLogger } from "@millrace/logger";
import { emailContract } from "@millrace/worker-config/contracts";
import { hosted, startMemoryHost } from "@millrace/worker-host/memory";
import { expect, test } from "vitest";
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
