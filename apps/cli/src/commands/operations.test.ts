import { closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { afterAll, beforeEach, expect, test } from "vitest";
import { putFailed } from "../../../../packages/job-admin/test/failed-jobs.ts";
import { putIntoQuarantine } from "../../../../packages/job-admin/test/quarantined-jobs.ts";
import { run } from "../../test/run.ts";

const mail = { to: "ada@example.com", subject: "SECRET", text: "Hi" };
const add = async (jobId: string, delayMs = 0) => enqueue(emailContract, "sendEmail", mail, { jobId, delayMs });

beforeEach(() => emailQueue.obliterate({ force: true }));
afterAll(closeQueues);

test("one job is promoted, cancelled, retried and removed, and what cannot be done says why with 1", async () => {
  await add("one", 60_000);
  const change = (name: string, ...more: string[]) => run([name, "email", "one", "--json", ...more]);
  expect(await change("promote")).toMatchObject({ exitCode: 0, documents: [{ jobId: "one", outcome: "promoted" }] });
  expect(await change("promote")).toMatchObject({ exitCode: 1, documents: [{ outcome: "not_delayed" }] });
  expect(await change("retry")).toMatchObject({ exitCode: 1, documents: [{ outcome: "not_failed" }] });
  expect((await run(["retry", "email", "one"])).stdout).toMatch(/^email one: not_failed\. It waits/);
  expect(await change("cancel")).toMatchObject({ exitCode: 0, documents: [{ outcome: "cancelled", parent: null }] });
  await emailQueue.remove("one");
  await putFailed(emailQueue, [{ jobId: "one" }]);
  expect(await change("retry")).toMatchObject({ exitCode: 0, documents: [{ outcome: "replayed" }] });
  expect(await change("remove")).toMatchObject({ exitCode: 2, error: { code: "not_confirmed" } });
  expect(await change("remove", "--yes")).toMatchObject({ exitCode: 0, documents: [{ outcome: "removed" }] });
  for (const name of ["cancel", "retry", "promote"]) {
    expect(await change(name)).toMatchObject({ exitCode: 3, stdout: "", error: { code: "unknown_job" } });
  }
  expect(await change("remove", "--yes")).toMatchObject({ exitCode: 3, stdout: "", error: { code: "unknown_job" } });
});

test("a job in quarantine says with 1 that it lies there, and what to do", async () => {
  await putIntoQuarantine("email", { jobId: "bad", fields: { name: "sendEmail" } });
  const status = await run(["status", "email", "bad"]);
  expect(status.stdout).toMatch(/^error +quarantined: .*\n(?:.*\n)*see +millrace quarantine show email bad$/m);
  for (const argv of [["cancel"], ["retry"], ["promote"], ["remove", "--yes"]]) {
    const [name = "", ...more] = argv;
    const refused = await run([name, "email", "bad", ...more]);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stdout).toMatch(/^email bad: quarantined\. .*`millrace quarantine discard`/);
  }
  expect((await run(["quarantine", "discard", "email", "bad", "--yes"])).exitCode).toBe(0);
});

test("jobs are found by their state, without their payloads", async () => {
  await add("waits");
  await putFailed(emailQueue, [{ jobId: "dead" }]);
  const found = await run(["list", "--queue", "email", "--status", "failed", "--json"]);
  expect(found.documents).toMatchObject([{ jobs: [{ jobId: "dead", error: { code: "smtp_550" } }], cursor: null }]);
  const text = await run(["list", "--queue", "email"]);
  expect(text.stdout).toMatch(/waits .*pending/);
  expect(text.stdout).not.toContain("SECRET");
  expect((await run(["list", "--action", "sendDigest"])).stdout).toBe("no jobs\n");
  expect(await run(["list", "--from", "yesterday", "--json"])).toMatchObject({
    exitCode: 2,
    error: { code: "invalid_request", message: expect.stringContaining("from: ") },
  });
  const [page] = (await run(["list", "--limit", "1", "--json"])).documents;
  expect(await run(["list", "--status", "failed", "--cursor", String(page?.cursor), "--json"])).toMatchObject({
    exitCode: 2,
    error: { code: "invalid_request", message: expect.stringContaining("--cursor: ") },
  });
});

test("statistics are one document, or one per interval until Ctrl-C", async () => {
  await add("a");
  await add("b", 60_000);
  const once = await run(["stats", "--queue", "email", "--json"]);
  expect(once.documents).toMatchObject([{ queues: [{ queue: "email", pending: 2 }], total: { pending: 2 } }]);
  expect((await run(["stats"])).stdout).toMatch(/^email +2 +0/m);
  const interrupt = new AbortController();
  const onOutput = (text: string) => text.split("\n").length > 2 && interrupt.abort();
  const watched = await run(["stats", "--watch", "--interval", "100ms", "--json"], {
    signal: interrupt.signal,
    onOutput,
  });
  expect(watched.exitCode).toBe(130);
  expect(watched.documents).toHaveLength(2);
});

test("a queue is paused, resumed and drained; a drain counts first where it is asked to", async () => {
  await add("waits");
  await add("later", 60_000);
  const queues = (...argv: string[]) => run(["queues", ...argv, "--json"]);
  expect(await queues("pause", "email")).toMatchObject({ exitCode: 0, documents: [{ outcome: "paused" }] });
  expect(await queues("pause", "email")).toMatchObject({ exitCode: 1, documents: [{ outcome: "already_paused" }] });
  expect((await run(["stats", "--queue", "email"])).stdout).toContain("paused");
  expect(await queues("resume", "email")).toMatchObject({ exitCode: 0, documents: [{ outcome: "resumed" }] });
  expect(await queues("drain", "email", "--dry-run")).toMatchObject({ documents: [{ isDryRun: true, pending: 2 }] });
  expect(await queues("drain", "email")).toMatchObject({ exitCode: 2, error: { code: "not_confirmed" } });
  expect(await queues("drain", "email", "--yes")).toMatchObject({ documents: [{ waiting: 1, delayed: 0 }] });
  expect(await queues("drain", "email", "--yes")).toMatchObject({ exitCode: 1 });
  expect(await emailQueue.getDelayedCount()).toBe(1);
});
