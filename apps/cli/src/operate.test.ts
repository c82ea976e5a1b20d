import { listAuditEntries } from "@millrace/database";
import { closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { useDatabase, useEmptyDatabase } from "../../../packages/database/test/use-database.ts";
import { run } from "../test/run.ts";

const mail = { to: "ada@example.com", subject: "Hello", text: "Hi" };
const { url, database } = useDatabase();
const empty = useEmptyDatabase();

afterAll(closeQueues);

test("the audit log has who did what to which job, and how it ended", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { delayMs: 60_000 });
  const databaseUrl = url();
  expect(await run(["cancel", "email", jobId], { databaseUrl })).toMatchObject({ exitCode: 0, stderr: "" });
  expect((await run(["cancel", "email", "gone"], { databaseUrl })).exitCode).toBe(3);
  expect((await run(["queues", "resume", "email"], { databaseUrl })).exitCode).toBe(1);
  const made = await run(["keys", "create", "shop", "--role", "viewer", "--json"], { databaseUrl });
  const entries = await listAuditEntries(database(), { limit: 10 });
  expect(entries.toReversed()).toMatchObject([
    { keyId: "cli", keyName: "ada", action: "job.cancel", target: { queue: "email", jobId }, outcome: "done" },
    { action: "job.cancel", target: { jobId: "gone" }, outcome: "refused", status: 404 },
    { action: "queue.resume", outcome: "refused", details: { result: "not_paused" } },
    { action: "key.create", outcome: "done", details: { name: "shop", role: "viewer" } },
  ]);
  expect(JSON.stringify(entries)).not.toContain(String(made.documents[0]?.key).slice(-43));
});

test("what Ctrl-C cut off is written down as stopped, with what had been done by then", async () => {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail);
  const interrupted = { databaseUrl: url(), signal: AbortSignal.abort() };
  expect((await run(["queues", "drain", "email", "--yes"], interrupted)).exitCode).toBe(130);
  const [entry] = await listAuditEntries(database(), { limit: 1, action: "queue.drain" });
  expect(entry).toMatchObject({ outcome: "stopped", details: { waiting: 0, delayed: 0 } });
  await (await emailQueue.getJob(jobId))?.remove();
});

test("what only looks, or is a dry run, leaves no row", async () => {
  const databaseUrl = url();
  const count = async () => (await listAuditEntries(database(), { limit: 100 })).length;
  const before = await count();
  for (const argv of [["stats"], ["list"], ["dead-letters", "purge", "--older-than", "0s", "--dry-run"]]) {
    await run(argv, { databaseUrl });
  }
  expect(await count()).toBe(before);
});

test("where the audit log takes no row nothing is done", async () => {
  const refused = await run(["queues", "pause", "email", "--json"], { databaseUrl: empty.url() });
  expect(refused).toMatchObject({ exitCode: 5, stdout: "", error: { code: "audit_unavailable" } });
  expect(await emailQueue.isPaused()).toBe(false);
});

test("without a database it is done, and said that no row was written", async () => {
  const done = await run(["queues", "pause", "email", "--json"]);
  expect(done).toMatchObject({ exitCode: 0, documents: [{ outcome: "paused" }] });
  expect(JSON.parse(done.stderr)).toMatchObject({ warning: { code: "not_audited" } });
  expect((await run(["queues", "resume", "email"])).stderr).toContain("DATABASE_URL is not set");
});
