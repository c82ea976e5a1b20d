import { expect, test } from "vitest";
import {
  addedJobs,
  codeSchedule,
  keptLog,
  letTimePass,
  mail,
  tenantSchedule,
  useSchedules,
} from "../test/use-schedules.ts";
import { addSchedule, removeSchedule } from "./change-schedules.ts";
import { findSchedule, listSchedules } from "./read-schedules.ts";
import { runScript } from "./schedules-in-redis.ts";

const { start, work, register } = useSchedules();
// A process that waits looks for new schedules once a second.
const soon = { timeout: 10_000 };
const dueIds = () => runScript(`return redis.call("ZRANGE", due, 0, -1)`);

test("a schedule of a workspace fires at its times, survives a restart, and is gone when it is removed", async () => {
  const schedule = tenantSchedule();
  expect(await addSchedule(schedule, 10)).toBe(true);
  const first = await start();
  await expect.poll(async () => (await addedJobs()).length, soon).toBeGreaterThan(1);
  await first.close();
  const before = (await addedJobs()).length;
  const second = await start();
  await expect.poll(async () => (await addedJobs()).length, soon).toBeGreaterThan(before + 1);
  expect(await removeSchedule(schedule.id)).toBe(true);
  // A tick that had begun may still add its job.
  await second.close();
  const jobs = await addedJobs();
  await start();
  await addSchedule(tenantSchedule(), 10);
  await expect.poll(async () => (await addedJobs()).length, soon).toBeGreaterThan(jobs.length + 2);
  expect((await addedJobs()).filter(({ scheduleId }) => scheduleId === schedule.id)).toHaveLength(jobs.length);
  expect(await findSchedule(schedule.id)).toBeUndefined();
});

test("twenty registrations at once, and processes that come and go, leave one tick per due time", async () => {
  const schedules = [codeSchedule("digest")];
  const first = await start({ schedules });
  const { anchorMs } = (await findSchedule("digest")) ?? expect.fail("expected it registered");
  await Promise.all(Array.from({ length: 20 }, () => register(schedules)));
  for (let restart = 0; restart < 20; restart++) {
    const other = await start({ schedules });
    await other.close();
  }
  await expect.poll(async () => (await addedJobs()).length, soon).toBeGreaterThan(3);
  expect(await dueIds()).toEqual(["digest"]);
  await first.close();
  const dueTimes = (await addedJobs()).map(({ dueAt }) => Date.parse(dueAt));
  expect(new Set(dueTimes).size).toBe(dueTimes.length);
  // Nothing shifted them: all are so many intervals after the first registration.
  for (const dueMs of dueTimes) expect((dueMs - anchorMs) % 100).toBe(0);
  expect((await findSchedule("digest"))?.counts.runs).toBe(dueTimes.length);
});

test("of three processes that look at the same time, one deals with a due time, and it is counted once", async () => {
  await addSchedule(tenantSchedule({ id: "shared" }), 10);
  const schedulers = [await start(), await start(), await start()];
  await expect.poll(async () => (await addedJobs()).length, soon).toBeGreaterThan(5);
  for (const scheduler of schedulers) await scheduler.close();
  expect((await findSchedule("shared"))?.counts).toMatchObject({ runs: (await addedJobs()).length, skipped: 0 });
});

test("after fifty removals and registrations in turn, it is due once and fires", async () => {
  for (let round = 0; round < 50; round++) {
    await register([]);
    await register([codeSchedule("digest")]);
  }
  expect(await dueIds()).toEqual(["digest"]);
  await start({ schedules: [codeSchedule("digest")] });
  await expect.poll(async () => (await addedJobs()).length, soon).toBeGreaterThan(0);
});

test("while the last run goes on, skip adds none, counts it and says so; queue adds them all", async () => {
  const finish = Promise.withResolvers<void>();
  work(() => finish.promise);
  const { log, lines } = keptLog();
  await start({ log, schedules: [codeSchedule("patient", 100, "skip"), codeSchedule("eager", 100, "queue")] });
  await expect.poll(async () => (await findSchedule("patient"))?.counts.skipped, soon).toBeGreaterThan(2);
  const ofSchedule = async (id: string) => (await addedJobs()).filter(({ scheduleId }) => scheduleId === id).length;
  expect(await ofSchedule("patient")).toBe(1);
  expect(await ofSchedule("eager")).toBeGreaterThan(2);
  expect(lines).toContainEqual(expect.objectContaining({ scheduleId: "patient", code: "overlap" }));
  expect(await findSchedule("patient")).toMatchObject({ counts: { runs: 1 }, lastSkip: { code: "overlap" } });
  finish.resolve();
  await expect.poll(() => ofSchedule("patient"), soon).toBeGreaterThan(1);
});

test("due times that nobody was there for are dealt with as their schedule says", async () => {
  const hourMs = 3_600_000;
  const all = { all: { max: 3, withinMs: 4 * hourMs } };
  const schedules = [
    tenantSchedule({ missed: "skip" }),
    tenantSchedule({ missed: "once" }),
    tenantSchedule({ missed: all }),
  ];
  for (const schedule of schedules) {
    await addSchedule({ ...schedule, cadence: { everyMs: hourMs } }, 10);
    await letTimePass(schedule.id, 5.5 * hourMs);
  }
  const { log, lines } = keptLog();
  const counted: Record<string, number> = {};
  const onRuns = (outcome: string, count: number) => {
    counted[outcome] = (counted[outcome] ?? 0) + count;
  };
  await start({ log, onRuns });
  const runsOf = async (index: number) => (await findSchedule(schedules[index]?.id ?? ""))?.counts;
  await expect.poll(() => runsOf(0), soon).toEqual({ runs: 0, missed: 5, skipped: 0 });
  await expect.poll(() => runsOf(1), soon).toEqual({ runs: 1, missed: 4, skipped: 0 });
  await expect.poll(() => runsOf(2), soon).toEqual({ runs: 3, missed: 2, skipped: 0 });
  expect(await addedJobs()).toHaveLength(4);
  expect(lines.filter(({ code }) => code === "runs_missed")).toHaveLength(3);
  await expect.poll(() => counted, soon).toEqual({ on_time: 0, late: 4, missed: 11, skipped: 0 });
});

test("a schedule that fell out of the due ones is armed again, and that is said", async () => {
  await addSchedule(tenantSchedule({ id: "lost" }), 10);
  await runScript(`redis.call("ZREM", due, "lost")`);
  const { log, lines } = keptLog();
  await start({ log, repairEveryMs: 50 });
  await expect.poll(async () => (await addedJobs()).length, soon).toBeGreaterThan(0);
  expect(lines).toContainEqual(expect.objectContaining({ code: "schedule_rearmed", scheduleId: "lost" }));
});

test("a tick whose process died is taken up by another, and adds nothing twice", async () => {
  await addSchedule(tenantSchedule({ id: "hourly", cadence: { everyMs: 3_600_000 } }), 10);
  await letTimePass("hourly", 3_600_000);
  const first = await start();
  await expect.poll(async () => (await findSchedule("hourly"))?.counts.runs, soon).toBe(1);
  await first.close();
  // As if it had died between the job and its record.
  await letTimePass("hourly", 3_600_000);
  await runScript(`redis.call("HINCRBY", byId .. ":hourly", "anchor", 3600000)`);
  await start();
  await expect.poll(async () => (await findSchedule("hourly"))?.counts.runs, soon).toBe(2);
  expect(await addedJobs()).toHaveLength(1);
});

test("of a blocked owner's schedule no run is added, and the next due times come all the same", async () => {
  await addSchedule(tenantSchedule({ id: "blocked" }), 10);
  await start({ workspaces: { standingOf: async () => ({ standing: "blocked", ownerId: "owner-1" }) } });
  await expect.poll(async () => (await findSchedule("blocked"))?.counts.skipped, soon).toBeGreaterThan(1);
  expect(await findSchedule("blocked")).toMatchObject({ counts: { runs: 0 }, lastSkip: { code: "owner_blocked" } });
  expect(await addedJobs()).toEqual([]);
});

test("a schedule whose data its action takes no more says so without the data, and holds up no other", async () => {
  await addSchedule(tenantSchedule({ id: "outdated", data: { ...mail, to: "MARKER" } }), 10);
  await addSchedule(tenantSchedule({ id: "sound" }), 10);
  const { log, lines } = keptLog();
  await start({ log });
  await expect.poll(async () => (await findSchedule("outdated"))?.lastSkip?.code, soon).toBe("invalid_data");
  await expect.poll(async () => (await findSchedule("sound"))?.counts.runs, soon).toBeGreaterThan(1);
  expect(lines).toContainEqual(expect.objectContaining({ scheduleId: "outdated", code: "invalid_data" }));
  expect(JSON.stringify(lines)).not.toContain("MARKER");
});

test("a workspace has no more schedules than it may, and a list shows them page by page", async () => {
  for (const id of ["a", "b", "c"]) await addSchedule(tenantSchedule({ id, workspaceId: "full" }), 3);
  expect(await addSchedule(tenantSchedule({ workspaceId: "full" }), 3)).toBe(false);
  expect(await addSchedule(tenantSchedule({ id: "d", workspaceId: "other" }), 3)).toBe(true);
  const first = await listSchedules({ workspaceId: "full", limit: 2 });
  const second = await listSchedules({ workspaceId: "full", limit: 2, cursor: first.cursor ?? "" });
  const ids = [...first.schedules, ...second.schedules].map(({ schedule }) => schedule.id);
  expect([ids, second.cursor]).toEqual([["a", "b", "c"], null]);
});
