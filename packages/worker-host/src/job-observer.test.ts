import { createLogger } from "@millrace/logger";
import { cancelledReason, defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { PermanentError } from "./job-error.ts";
import type { SettledStart } from "./job-observer.ts";

const contract = defineQueue("default", { run: { data: z.object({ fails: z.enum(["never", "once", "for good"]) }) } });
const { raw, work, add, stored, ended } = useQueue(contract);

test("an observer hears of each start, of what was ended before it ran, and can do the jobs no harm", async () => {
  const starts: SettledStart[] = [];
  const lines: { code?: string }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const log = createLogger({ level: "error", format: "json", destination: { write } });
  const observers = [
    {
      settled: () => {
        throw new Error("broken");
      },
    },
    { settled: (start: SettledStart) => starts.push(start) },
  ];
  const cancelled = await add("run", { fails: "never" }, { delayMs: 60_000 });
  await (await raw.getBackend().client).hset(raw.toKey(cancelled), { defa: cancelledReason });
  const early = await add("run", { fails: "never" }, { delayMs: 60_000 });
  for (const jobId of [cancelled, early]) await (await stored(jobId)).promote();
  // As another producer adds one, without a word of its attempts.
  const bare = await raw.add("run", { type: "run", data: { fails: "once" } });
  const handlers = {
    run: async ({ fails }: { fails: string }, { attempt }: { attempt: number }) => {
      if (fails === "for good") throw new PermanentError("no", { code: "refused" });
      if (fails === "once" && attempt === 1) throw new Error("not yet");
    },
  };
  const worker = await work(handlers, { observers, log });
  const [fine, retried, refused] = await Promise.all(
    ["never", "once", "for good"].map(async (fails) => add("run", { fails })),
  );
  for (const jobId of [fine, retried, refused, cancelled, early, bare.id])
    expect((await ended(jobId ?? "")).finishedOn).toBeGreaterThan(0);
  await expect.poll(() => starts.length).toBe(7);
  const of = (jobId: string | undefined) => starts.filter((start) => start.jobId === jobId);
  const ran = { queue: "default", action: "run", durationMs: expect.any(Number) };
  const first = { ...ran, attempt: 1, waitMs: expect.any(Number) };
  expect(of(fine)).toMatchObject([{ ...first, outcome: "completed", code: null }]);
  expect(of(retried)).toMatchObject([
    { ...first, outcome: "retry", code: "handler_error" },
    { ...ran, attempt: 2, waitMs: null, outcome: "completed" },
  ]);
  expect(of(refused)).toMatchObject([{ ...first, outcome: "failed", code: "refused" }]);
  // What it was to be delayed is no wait.
  expect(of(early)).toMatchObject([{ ...first, waitMs: 0, outcome: "completed" }]);
  expect(of(bare.id)).toMatchObject([{ ...first, outcome: "failed", code: "handler_error" }]);
  expect(of(cancelled)).toMatchObject([{ outcome: "cancelled", code: "cancelled", waitMs: null, durationMs: null }]);
  expect(lines.filter(({ code }) => code === "observer_failed")).toHaveLength(7);
  // It lists what runs, and no more.
  await expect.poll(() => worker.jobs()).toEqual([]);
});

test("an observer hears of a job that goes into quarantine as of a failure, so that whoever counts failures sees it", async () => {
  const starts: SettledStart[] = [];
  const jobId = await add("run", { fails: "never" });
  await (await raw.getBackend().client).hset(raw.toKey(jobId), { data: "{" });
  await work({ run: async () => {} }, { observers: [{ settled: (start) => starts.push(start) }] });
  await expect.poll(() => starts).toMatchObject([{ jobId, action: "", outcome: "failed", code: "corrupt" }]);
});
