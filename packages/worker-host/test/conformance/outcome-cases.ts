import { createLogger } from "@millrace/logger";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import type { JobContext } from "../../src/job-context.ts";
import { AmbiguousError, ContentionError, RateLimitedError, SkippedError } from "../../src/job-error.ts";
import { contract, data, type Engine, untilEnded } from "./engine.ts";
import { type Row, thrownAlways, thrownOnce } from "./thrown-rows.ts";

const standings = [
  { workspaceId: undefined, status: "success" },
  { workspaceId: "active", status: "success" },
  { workspaceId: "blocked", status: "skipped", code: "owner_blocked" },
  { workspaceId: "gone", status: "skipped", code: "workspace_gone" },
];

const workspaces = {
  workspaceOf: async () => undefined,
  standingOf: async (workspaceId: string) => {
    if (workspaceId === "blocked") return { standing: "blocked", ownerId: "owner" } as const;
    return { standing: workspaceId === "gone" ? "gone" : "active" } as const;
  },
};

const twice = { attempts: 2, retryIntervalsMs: [1] };

/** Every cause of an end, and what becomes of its job. */
export function outcomeCases(engine: Engine): void {
  const finish = async (job: z.input<typeof data>, options: object = twice) =>
    untilEnded(engine, (await engine.enqueue(contract, "run", job, options)).jobId);

  /** Runs one job per row, named by the row, and returns what each row says of itself beside what was seen. */
  async function runRows(rows: readonly Row[], throwAt: (start: number) => boolean): Promise<unknown[]> {
    const runs = new Map<string, number>();
    const run = async ({ text }: { text: string }) => {
      const start = (runs.get(text) ?? 0) + 1;
      runs.set(text, start);
      if (throwAt(start)) throw rows.find(({ cause }) => cause === text)?.thrown();
      return { echo: "done" };
    };
    await engine.start({ run });
    return Promise.all(
      rows.map(async ({ cause, thrown }) => {
        const { status, error, attempts, result } = await finish({ text: cause });
        return { cause, thrown, status, code: error?.code, attempts, runs: runs.get(cause), result };
      }),
    );
  }

  test("what a handler throws at every start ends its job as it means, after the right number of attempts", async () => {
    const expected = thrownAlways.map((row) => ({ ...row, runs: row.attempts, result: null }));
    expect(await runRows(thrownAlways, () => true)).toEqual(expected);
  });

  test("what a handler throws at the first start lets the second one succeed, and counts as an attempt or not", async () => {
    const expected = thrownOnce.map((row) => ({ ...row, runs: 2, result: { echo: "done" } }));
    expect(await runRows(thrownOnce, (start) => start === 1)).toEqual(expected);
  });

  test.each([
    ["ambiguous once", { status: "success", attempts: 2 }],
    ["no key", { status: "failed", attempts: 1, error: { code: "ambiguous" } }],
  ])("an ambiguous failure is tried again where the job has an idempotency key: %s", async (text, expected) => {
    let runs = 0;
    await engine.start({
      keyed: async () => {
        runs += 1;
        if (runs === 1) throw new AmbiguousError("no answer");
        return { echo: "" };
      },
    });
    const { jobId } = await engine.enqueue(contract, "keyed", { text }, twice);
    expect(await untilEnded(engine, jobId)).toMatchObject(expected);
  });

  test("a handler that finds nothing to do says so, and its job is skipped and holds no idempotency key", async () => {
    let runs = 0;
    const nothingToDo = async () => {
      runs += 1;
      if (runs < 3) throw new SkippedError("Nobody wants it.", { code: "unwanted" });
      return { echo: "ran" };
    };
    await engine.start({ run: nothingToDo, keyed: nothingToDo });
    const skipped = { status: "skipped", attempts: 1, error: { code: "unwanted", message: "Nobody wants it." } };
    expect(await finish({ text: "a" })).toMatchObject(skipped);
    const keyed = async () =>
      untilEnded(engine, (await engine.enqueue(contract, "keyed", { text: "skipped once" })).jobId);
    expect(await keyed()).toMatchObject(skipped);
    expect(await keyed()).toMatchObject({ status: "success", result: { echo: "ran" } });
  });

  test("a job runs or is skipped as its workspace stands", async () => {
    const ran: unknown[] = [];
    const run = async ({ workspaceId }: { workspaceId?: string | undefined }) => {
      ran.push(workspaceId);
      return { echo: "" };
    };
    await engine.start({ run }, { workspaces, concurrency: 1 });
    for (const { workspaceId, ...expected } of standings) {
      const { status, error, attempts } = await finish({ text: "a", workspaceId });
      expect({ status, code: error?.code, attempts }).toEqual({ ...expected, attempts: 1 });
    }
    expect(ran).toEqual([undefined, "active"]);
  });

  test("a job whose workspace cannot be looked up waits, without an attempt and without running", async () => {
    let looks = 0;
    const standingOf = async () => {
      looks += 1;
      if (looks < 3) throw new ContentionError("no answer", { code: "lookup_failed", retryAfterMs: 1 });
      return { standing: "active" } as const;
    };
    await engine.start({}, { workspaces: { ...workspaces, standingOf } });
    expect(await finish({ text: "a", workspaceId: "any" })).toMatchObject({ status: "success", attempts: 1 });
    expect(looks).toBe(3);
  });

  test("housekeeping runs whoever is blocked", async () => {
    const housekeeping = defineQueue(contract.name, contract.actions, { isHousekeeping: true });
    await engine.start({ run: async () => ({ echo: "ran" }) }, { workspaces, contract: housekeeping });
    expect((await finish({ text: "a", workspaceId: "blocked" })).result).toEqual({ echo: "ran" });
  });

  /** A producer of another deploy. */
  const newer = defineQueue("default", { run: { data: z.object({ text: z.number() }) }, later: { data } });

  test("an action that the worker does not know is tried again, because a newer worker may know it", async () => {
    await engine.start({});
    const { jobId } = await engine.enqueue(newer, "later", { text: "a" }, twice);
    expect(await untilEnded(engine, jobId)).toMatchObject({
      status: "failed",
      attempts: 2,
      error: { code: "unknown_action" },
    });
  });

  test("data that the worker's schema refuses is dead at once, and the reason names the field and not the data", async () => {
    await engine.start({});
    const { jobId } = await engine.enqueue(newer, "run", { text: 54_321 }, twice);
    const job = await untilEnded(engine, jobId);
    expect([job.status, job.attempts, job.error?.code]).toEqual(["failed", 1, "invalid_data"]);
    expect(job.error?.message).toMatch(/data\.text/);
    expect(job.error?.message).not.toContain("54321");
  });

  test("a result that its schema refuses is dropped, and the effect is not repeated for it", async () => {
    let runs = 0;
    const run = async () => {
      runs += 1;
      // A handler in plain JavaScript can return anything.
      return { echo: 1n } as unknown as { echo: string };
    };
    await engine.start({ run });
    expect(await finish({ text: "a" })).toMatchObject({ status: "success", result: null, attempts: 1 });
    expect(runs).toBe(1);
  });

  test("each start ends in one log line, a failed job in one that says so, and none holds a payload", async () => {
    const lines: string[] = [];
    const log = createLogger({ level: "info", format: "json", destination: { write: (line) => lines.push(line) } });
    const starts = new Map<string, number>();
    const run = async ({ text }: { text: string }, { attempt, log }: JobContext) => {
      log.info("says something");
      starts.set(text, (starts.get(text) ?? 0) + 1);
      if (text === "nothing to do") throw new SkippedError("Nobody wants it.", { code: "unwanted" });
      if (text === "not now" && starts.get(text) === 1) throw new RateLimitedError("slow down", { retryAfterMs: 1 });
      if (attempt === 1 || text === "a-secret-failure") throw new Error("not yet");
      return { echo: "a-secret-result" };
    };
    await engine.start({ run }, { log });
    const succeeded = await finish({ text: "a-secret-payload" });
    const failed = await finish({ text: "a-secret-failure" });
    const skipped = await finish({ text: "nothing to do" });
    const deferred = await finish({ text: "not now" });
    const parsed = lines.map((line) => JSON.parse(line));
    const start = (jobId: string, attempt: number) => ({ queue: "default", action: "run", jobId, attempt });
    const durationMs = expect.any(Number);
    const retry = { durationMs, outcome: "retry", code: "handler_error", err: { message: "not yet" } };
    expect(parsed.filter(({ outcome }) => outcome)).toMatchObject([
      { ...start(succeeded.jobId, 1), ...retry, level: 40 },
      { ...start(succeeded.jobId, 2), durationMs, outcome: "completed", level: 30 },
      { ...start(failed.jobId, 1), ...retry },
      { ...start(failed.jobId, 2), ...retry, outcome: "failed", level: 50 },
      { ...start(skipped.jobId, 1), durationMs, outcome: "skipped", code: "unwanted", level: 30 },
      { ...start(deferred.jobId, 1), durationMs, outcome: "deferred", code: "rate_limited", delayMs: 1, level: 30 },
      { ...start(deferred.jobId, 1), ...retry },
      { ...start(deferred.jobId, 2), durationMs, outcome: "completed" },
    ]);
    // A handler's own lines say whose they are, as the line of its start does.
    const identityOf = ({ queue, action, jobId, attempt }: Record<string, unknown>) => [queue, action, jobId, attempt];
    expect(parsed.filter(({ msg }) => msg === "says something").map(identityOf)).toEqual(
      parsed.filter(({ outcome }) => outcome).map(identityOf),
    );
    expect(lines.join("")).not.toContain("a-secret");
  });
}
