import { expect, test } from "vitest";
import { codeSchedule, letTimePass, mail, tenantSchedule, useSchedules } from "../test/use-schedules.ts";
import { addSchedule, readClock, replaceSchedule } from "./change-schedules.ts";
import { rearmSchedules, settleTick, takeDueSchedules } from "./due-schedules.ts";
import { pauseSchedule, resumeSchedule } from "./pause-schedule.ts";
import { findSchedule } from "./read-schedules.ts";
import { registerSchedules } from "./register-schedules.ts";
import { runScript } from "./schedules-in-redis.ts";

useSchedules();
const hourMs = 3_600_000;
const dueIds = () => runScript(`return redis.call("ZRANGE", due, 0, -1)`);
const find = async (id: string) => (await findSchedule(id)) ?? expect.fail(`expected ${id} stored`);
const addHourly = (id: string) => addSchedule(tenantSchedule({ id, cadence: { everyMs: hourMs } }), 10);

test("a paused schedule is due at no time, and a resumed one at its next due time, not at those that passed", async () => {
  await addHourly("hourly");
  await letTimePass("hourly", 5.5 * hourMs);
  expect([await pauseSchedule("hourly"), await pauseSchedule("hourly")]).toEqual(["paused", "already_paused"]);
  expect([(await takeDueSchedules(10)).taken, await rearmSchedules()]).toEqual([[], []]);
  const now = await readClock();
  expect(await find("hourly")).toMatchObject({ dueMs: null, pausedAtMs: expect.closeTo(now, -4) });
  expect([await resumeSchedule("hourly"), await resumeSchedule("hourly")]).toEqual(["resumed", "not_paused"]);
  const { anchorMs, dueMs, pausedAtMs, counts } = await find("hourly");
  expect((Number(dueMs) - anchorMs) % hourMs).toBe(0);
  expect(Number(dueMs) - now).toBeGreaterThan(0);
  expect(Number(dueMs) - now).toBeLessThanOrEqual(hourMs);
  expect([pausedAtMs, counts, await dueIds()]).toEqual([null, { runs: 0, missed: 0, skipped: 0 }, ["hourly"]]);
  expect([await pauseSchedule("nobody"), await resumeSchedule("nobody")]).toEqual(["unknown", "unknown"]);
});

test("a tick that had begun when its schedule was paused is recorded, and arms nothing", async () => {
  await addHourly("ticking");
  await letTimePass("ticking", 1.5 * hourMs);
  const [taken = expect.fail("expected it due")] = (await takeDueSchedules(10)).taken;
  await pauseSchedule("ticking");
  const lastRun = { jobId: "job", dueMs: taken.dueMs, atMs: 1 };
  const result = {
    nextDueMs: Date.now() + hourMs,
    lastRun,
    lastSkip: undefined,
    runs: 1,
    late: 0,
    missed: 0,
    skipped: 0,
  };
  await settleTick(taken, result);
  expect(await find("ticking")).toMatchObject({ dueMs: null, lastRun: { jobId: "job" }, counts: { runs: 1 } });
  expect(await dueIds()).toEqual([]);
});

test("what the code owns stays paused when it is registered with another cadence, and goes on with that one", async () => {
  await registerSchedules([codeSchedule("sweep", hourMs)]);
  await pauseSchedule("sweep");
  await registerSchedules([codeSchedule("sweep", 2 * hourMs)]);
  expect([(await find("sweep")).dueMs, await dueIds()]).toEqual([null, []]);
  await resumeSchedule("sweep");
  const { anchorMs, dueMs } = await find("sweep");
  expect(Number(dueMs) - anchorMs).toBe(2 * hourMs);
});

test("a schedule that is replaced keeps its due time unless its cadence is another, and stays paused", async () => {
  await addHourly("one");
  const before = await find("one");
  const data = { ...mail, subject: "Another" };
  const same = { ...before.schedule, data };
  expect(await replaceSchedule(same)).toBe(true);
  expect(await find("one")).toEqual({ ...before, schedule: same });
  await replaceSchedule({ ...same, cadence: { everyMs: 2 * hourMs } });
  const { anchorMs, dueMs } = await find("one");
  expect(Number(dueMs) - anchorMs).toBe(2 * hourMs);
  await pauseSchedule("one");
  await replaceSchedule(same);
  expect([(await find("one")).dueMs, await dueIds()]).toEqual([null, []]);
  expect(await replaceSchedule({ ...same, workspaceId: "another" })).toBe(false);
  expect(await replaceSchedule({ ...same, id: "nobody" })).toBe(false);
  expect((await find("one")).schedule.workspaceId).toBe("workspace-1");
});
