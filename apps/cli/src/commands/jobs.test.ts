import {
  aiAgentQueue,
  aiAgentUrgentQueue,
  closeQueues,
  emailContract,
  emailQueue,
  enqueue,
} from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { runWorker } from "../../../../packages/job-admin/test/run-worker.ts";
import { run } from "../../test/run.ts";

afterAll(closeQueues);

const mail = { to: "ada@example.com", subject: "SECRET-SUBJECT", text: "Hi" };
const enqueueMail = ["enqueue", "email", "sendEmail", "--json"];

test("a job is added from an option, a pipe or a file, and the same id adds nothing further", async () => {
  const created = await run([...enqueueMail, "--data", JSON.stringify(mail), "--id", "cli-1", "--delay", "1h"]);
  expect(created).toMatchObject({ exitCode: 0, documents: [{ status: "created", queue: "email", jobId: "cli-1" }] });
  const again = await run([...enqueueMail, "--id", "cli-1"], { stdin: JSON.stringify(mail) });
  expect(again).toMatchObject({ exitCode: 0, documents: [{ status: "duplicate", jobId: "cli-1" }] });
  const unread = await run([...enqueueMail, "--data-file", "/no/such/file"]);
  expect(unread).toMatchObject({ exitCode: 2, stdout: "", error: { code: "usage" } });
  const job = await emailQueue.getJob("cli-1");
  expect(job?.opts.delay).toBe(3_600_000);
  expect(job?.data.data).toEqual(mail);
});

test("a job for a language model goes to the queue that its priority says, and the answer names that one", async () => {
  const add = (...more: string[]) =>
    run(["enqueue", "aiAgent", "runAgent", "--data", '{"prompt":"Hello"}', "--json", ...more]);
  const urgent = await add("--priority", "1");
  expect(urgent).toMatchObject({ exitCode: 0, documents: [{ status: "created", queue: "aiAgentUrgent" }] });
  const patient = await add("--priority", "4");
  expect(patient).toMatchObject({ exitCode: 0, documents: [{ queue: "aiAgent" }] });
  expect([await aiAgentUrgentQueue.count(), await aiAgentQueue.count()]).toEqual([1, 1]);
});

test("data that is not valid, or not JSON, is refused without repeating it", async () => {
  const invalid = await run([...enqueueMail, "--data", JSON.stringify({ ...mail, to: "SECRET-TO" })]);
  expect(invalid).toMatchObject({ exitCode: 2, stdout: "", error: { code: "invalid_data" } });
  expect(invalid.stderr).not.toContain("SECRET");
  const broken = await run([...enqueueMail, "--data", '{"SECRET']);
  expect(broken).toMatchObject({ exitCode: 2, error: { code: "invalid_json" } });
  expect(broken.stderr).not.toContain("SECRET");
  const unknown = await run(["enqueue", "email", "sendPigeon", "--data", "{}", "--json"]);
  expect(unknown).toMatchObject({ exitCode: 2, error: { code: "unknown_action" } });
});

test("an enqueue without data says how data is given, with the action's own example, and adds nothing", async () => {
  const expected = `expected the job's data, got none: add --data JSON or --data-file FILE, or pipe JSON in. For example: millrace enqueue email sendEmail --data '${JSON.stringify(emailContract.actions.sendEmail.example)}'`;
  for (const from of [{ isTerminal: true }, { stdin: "" }, { stdin: "\n" }]) {
    const asked = await run(enqueueMail, from);
    expect(asked).toMatchObject({ exitCode: 2, stdout: "", error: { code: "usage", message: expected } });
  }
  const unknown = await run(["enqueue", "email", "sendPigeon", "--json"], { isTerminal: true });
  expect(unknown).toMatchObject({ exitCode: 2, error: { code: "unknown_action" } });
});

test("a status shows no payload until it is asked for, and no job is its own exit code", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { delayMs: 60_000 });
  const text = await run(["status", "email", jobId]);
  expect(text.stdout).toMatch(/status +pending/);
  expect(text.stdout).toMatch(/^due +20\d\d-.*Z$/m);
  expect(text.stdout).not.toContain("SECRET");
  const json = await run(["status", "email", jobId, "--json"]);
  expect(json).toMatchObject({ exitCode: 0, documents: [{ jobId, status: "pending", action: "sendEmail" }] });
  expect(json.stdout).not.toContain("SECRET");
  const shown = await run(["status", "email", jobId, "--json", "--show-data"]);
  expect(shown.documents).toMatchObject([{ jobId, data: mail }]);
  const none = await run(["status", "email", "no-such-job", "--json"]);
  expect(none).toMatchObject({ exitCode: 3, stdout: "", error: { code: "unknown_job" } });
});

test("a watch tells of progress, ends with the job, and its exit code is the job's", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail);
  const { jobId: failing } = await enqueue(emailContract, "sendEmail", { ...mail, text: "fail" }, { attempts: 1 });
  const goOn = Promise.withResolvers<void>();
  const worker = await runWorker("email", async (job) => {
    if (job.id === failing) throw new Error("no such mailbox");
    await job.updateProgress(40);
    await goOn.promise;
    return { messageId: "<1@example.com>" };
  });
  try {
    const onOutput = (text: string) => text.includes('"progress":40') && goOn.resolve();
    const well = await run(["watch", "email", jobId, "--json"], { onOutput });
    expect(well).toMatchObject({ exitCode: 0, stderr: "" });
    expect(well.documents.at(-1)).toMatchObject({ kind: "end", job: { jobId, status: "success" } });
    expect(well.stdout).toContain('"progress":40');
    expect(well.stdout).not.toContain("SECRET");
    const ill = await run(["watch", "email", failing]);
    expect(ill.exitCode).toBe(1);
    expect(ill.stdout).toMatch(/failed.*no such mailbox/);
    expect((await run(["watch", "email", failing])).stdout.match(/failed/g)).toHaveLength(1);
    const none = await run(["watch", "email", "no-such-job"]);
    expect(none).toMatchObject({ exitCode: 3, stdout: "" });
  } finally {
    await worker.close();
  }
});

test("a terminal gets colours, and a bar that is drawn over until Ctrl-C ends it with 130", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { delayMs: 60_000 });
  const interrupt = new AbortController();
  const onOutput = (text: string) => text.includes("pending") && interrupt.abort();
  const watched = await run(["watch", "email", jobId], { isTerminal: true, signal: interrupt.signal, onOutput });
  expect(watched.exitCode).toBe(130);
  expect(watched.stdout).toMatch(/░+.*0 %.*pending/);
  expect(watched.stdout.endsWith("\r\u001b[K")).toBe(true);
  const colored = await run(["status", "email", jobId], { isTerminal: true });
  expect(colored.stdout).toContain("\u001b[");
  const plain = await run(["status", "email", jobId], { isTerminal: true, isPlain: true });
  expect(plain.stdout).not.toContain("\u001b");
});
