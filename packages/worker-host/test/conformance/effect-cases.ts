import { createLogger } from "@millrace/logger";
import { expect, test } from "vitest";
import type { JobContext } from "../../src/job-context.ts";
import { contract, createGate, type Engine, untilEnded, untilStatus } from "./engine.ts";

/** Which effects happen, and how often, where an idempotency key names them. */
export function effectCases(engine: Engine): void {
  test("a second job with the same idempotency key is skipped and answers with the first one's result", async () => {
    let runs = 0;
    await engine.start({
      keyed: async () => {
        runs += 1;
        return { echo: `run ${runs}` };
      },
    });
    const first = await engine.enqueue(contract, "keyed", { text: "order" });
    await untilEnded(engine, first.jobId);
    const second = await engine.enqueue(contract, "keyed", { text: "order" });
    expect(await untilEnded(engine, second.jobId)).toMatchObject({
      status: "skipped",
      attempts: 1,
      result: { echo: "run 1" },
      error: { code: "already_done" },
    });
    expect(runs).toBe(1);
  });

  test("a key is its workspace's own: another one with the same key has its effect, and sees nothing of the first one's result", async () => {
    await engine.start({ keyed: async (_, { workspaceId = "nobody" }) => ({ echo: `for ${workspaceId}` }) });
    for (const workspaceId of ["ws-a", "ws-b", undefined]) {
      const { jobId } = await engine.enqueue(contract, "keyed", {
        text: "shared",
        ...(workspaceId && { workspaceId }),
      });
      expect(await untilEnded(engine, jobId)).toMatchObject({
        status: "success",
        result: { echo: `for ${workspaceId ?? "nobody"}` },
      });
    }
  });

  test("twins that run at once have one effect: one waits without an attempt, and is skipped", async () => {
    const { started, open, pass } = createGate();
    let runs = 0;
    await engine.start({
      keyed: () => {
        runs += 1;
        return pass();
      },
    });
    const first = await engine.enqueue(contract, "keyed", { text: "twin" });
    await started;
    const second = await engine.enqueue(contract, "keyed", { text: "twin" });
    await expect
      .poll(async () => (await engine.findJob(second.jobId)) ?? {}, { interval: 10 })
      .toMatchObject({ status: "pending", attempts: 0, startedAt: expect.any(String) });
    open();
    expect(await untilEnded(engine, first.jobId)).toMatchObject({ status: "success" });
    expect(await untilEnded(engine, second.jobId)).toMatchObject({ status: "skipped", attempts: 1 });
    expect(runs).toBe(1);
  });

  test("an attempt that failed gives its claim up, so that the next one has the effect", async () => {
    let runs = 0;
    await engine.start({
      keyed: async () => {
        runs += 1;
        if (runs === 1) throw new Error("the service is away");
        return { echo: "done" };
      },
    });
    const { jobId } = await engine.enqueue(contract, "keyed", { text: "retried" }, { retryIntervalsMs: [1] });
    expect(await untilEnded(engine, jobId)).toMatchObject({ status: "success", attempts: 2, result: { echo: "done" } });
  });

  test("a dead letter that is replayed does not wait for the claim that its own cut-off attempts left", async () => {
    let runs = 0;
    const keyed = async () => {
      runs += 1;
      return runs < 3 ? new Promise<never>(() => {}) : { echo: "replayed" };
    };
    const lines: string[] = [];
    const log = createLogger({ level: "info", format: "json", destination: { write: (line) => lines.push(line) } });
    await engine.start({ keyed }, { log });
    const options = { attempts: 2, retryIntervalsMs: [1], timeoutMs: 30 };
    const { jobId } = await engine.enqueue(contract, "keyed", { text: "cut off" }, options);
    expect(await untilEnded(engine, jobId)).toMatchObject({ status: "failed", error: { code: "timeout" } });
    expect(await engine.replayDeadLetter(jobId)).toBe("replayed");
    expect(await untilStatus(engine, jobId, ["success", "failed"])).toMatchObject({ result: { echo: "replayed" } });
    expect(lines.filter((line) => line.includes("deferred"))).toEqual([]);
  });

  test("an effect that happens after its job was called off has happened: nobody has it again", async () => {
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const effects: string[] = [];
    const keyed = async (_: unknown, { jobId }: JobContext) => {
      started.resolve();
      await goOn.promise;
      effects.push(jobId);
      return { echo: jobId };
    };
    await engine.start({ keyed });
    await engine.enqueue(contract, "keyed", { text: "late" }, { jobId: "ignores-its-signal" });
    await started.promise;
    await engine.cancelJob("ignores-its-signal");
    await untilEnded(engine, "ignores-its-signal");
    goOn.resolve();
    const { jobId } = await engine.enqueue(contract, "keyed", { text: "late" });
    expect(await untilEnded(engine, jobId)).toMatchObject({
      status: "skipped",
      result: { echo: "ignores-its-signal" },
    });
    expect(effects).toEqual(["ignores-its-signal"]);
  });
}
