import { closeQueues, emailQueue } from "@millrace/worker-config";
import { afterAll, beforeEach, expect, test } from "vitest";
import { payloadMarker, putFailed } from "../../../../packages/job-admin/test/failed-jobs.ts";
import { putIntoQuarantine } from "../../../../packages/job-admin/test/quarantined-jobs.ts";
import { run } from "../../test/run.ts";

const day = 86_400_000;

beforeEach(async () => {
  await emailQueue.obliterate({ force: true });
  const now = Date.now();
  await putFailed(emailQueue, [
    { jobId: "old", failedAtMs: now - 40 * day, code: "smtp_550" },
    { jobId: "new", failedAtMs: now - 1_000, code: "timeout", message: "\u001b[2Jno answer" },
  ]);
});
afterAll(closeQueues);

test("dead letters are listed by what they failed of, without payloads or what a terminal takes for a command", async () => {
  const all = await run(["dead-letters", "list", "--json"]);
  expect(all.documents).toMatchObject([{ letters: [{ jobId: "new" }, { jobId: "old" }], cursor: null }]);
  expect(all.stdout).not.toContain(payloadMarker);
  const some = await run(["dead-letters", "list", "--code", "timeout", "--queue", "email", "--newer-than", "1h"], {
    isTerminal: true,
    isPlain: true,
  });
  expect(some.stdout).toMatch(/new +sendEmail +timeout +3 {2} \[2Jno answer/);
  expect(some.stdout).not.toContain("\u001b");
  expect(some.stdout).not.toContain("smtp_550");
  const page = await run(["dead-letters", "list", "--limit", "1"]);
  expect(page.stdout).toMatch(/more with --cursor \S+$/m);
});

test("nothing is replayed or purged that nobody confirmed, and a dry run says what would be", async () => {
  const replay = ["dead-letters", "replay", "--code", "timeout", "--json"];
  expect(await run(replay)).toMatchObject({ exitCode: 2, stdout: "", error: { code: "not_confirmed" } });
  expect((await run([...replay, "--dry-run"])).documents).toMatchObject([{ isDryRun: true, replayed: 1 }]);
  const purge = ["dead-letters", "purge", "--older-than", "30d", "--json"];
  expect(await run(purge)).toMatchObject({ exitCode: 2, error: { code: "not_confirmed" } });
  expect((await run([...purge, "--dry-run"])).documents).toMatchObject([{ isDryRun: true, removed: 1 }]);
  expect(await emailQueue.getFailedCount()).toBe(2);
});

test("a purge, and its dry run, say what of it lies in quarantine", async () => {
  await putIntoQuarantine("email", { jobId: "damaged" });
  const purge = (...more: string[]) => run(["dead-letters", "purge", "--older-than", "0ms", ...more]);
  const dryRun = await purge("--dry-run");
  expect(dryRun.stdout).toMatch(/^ +1 +email +\? +quarantined$/m);
  expect(dryRun.stdout).toMatch(/^3 would be removed, 1 of them from quarantine$/m);
  expect((await purge("--code", "quarantined", "--yes")).stdout).toMatch(/^1 removed, 1 of them from quarantine$/m);
  expect((await run(["quarantine", "list"])).stdout).toBe("the quarantine is empty\n");
});

test("a terminal is asked, and anything but yes does nothing", async () => {
  const argv = ["dead-letters", "purge", "--older-than", "30d"];
  const refused = await run(argv, { isTerminal: true, stdin: "n\n" });
  expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
  expect(refused.stderr).toContain("[y/N]");
  // Ctrl-D.
  const unanswered = await run(argv, { isTerminal: true, stdin: "" });
  expect(unanswered).toMatchObject({ exitCode: 1, stdout: "" });
  expect(unanswered.stderr).toContain("Nothing was done.");
  expect(await emailQueue.getFailedCount()).toBe(2);
  const allowed = await run(argv, { isTerminal: true, stdin: "y\n" });
  expect(allowed).toMatchObject({ exitCode: 0 });
  expect(await emailQueue.getJobState("old")).toBe("unknown");
});

test("a replay sends letters back, and says by its exit code when there were none", async () => {
  const argv = ["dead-letters", "replay", "--code", "timeout", "--yes", "--json"];
  expect(await run(argv)).toMatchObject({ exitCode: 0, documents: [{ replayed: 1, refused: {} }] });
  expect(await emailQueue.getJobState("new")).toBe("waiting");
  expect(await run(argv)).toMatchObject({ exitCode: 1, documents: [{ replayed: 0 }] });
});
