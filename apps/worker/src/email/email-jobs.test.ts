import { type Inbox, startInbox } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
import { emailContract } from "@millrace/worker-config/contracts";
import { hosted, startMemoryHost } from "@millrace/worker-host/memory";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emailHandlers } from "./handlers.ts";
import { createMailer } from "./mailer.ts";

let inbox: Inbox;

beforeAll(async () => {
  inbox = await startInbox();
});
afterAll(() => inbox.stop());

test("a reminder goes out at its time, and a mail server that asks for patience gets it", async () => {
  const log = createLogger({ level: "silent" });
  const sendMail = createMailer(inbox.smtpUrl);
  const reminder = { to: "ada@example.com", subject: "Tomorrow at ten", text: "See you there." };
  const memory = startMemoryHost([hosted(emailContract, emailHandlers(sendMail, "shop@example.com"))], { log });
  const { jobId } = await memory.enqueue(emailContract, "sendEmail", reminder, { delayMs: 86_400_000 });
  const deferred = await memory.enqueue(emailContract, "sendEmail", { ...reminder, to: "defer-ada@example.com" });

  await memory.fastForward();

  memory.assertEnqueued(emailContract, "sendEmail", { subject: "Tomorrow at ten" }, { times: 2 });
  expect(memory.findJob("email", jobId)).toMatchObject({ status: "success", attempts: 1 });
  expect(memory.deadLetters()).toMatchObject([
    { jobId: deferred.jobId, attempts: 5, error: { code: "smtp_deferred" } },
  ]);
  expect(await memory.stop(1_000)).toEqual([]);
  expect((await inbox.waitForMessage(({ subject }) => subject === "Tomorrow at ten")).to).toEqual(["ada@example.com"]);
});
