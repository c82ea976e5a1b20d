import { expect, test } from "vitest";
import { addedJobs, keptLog, letTimePass, mail, silent, tenantSchedule, useSchedules } from "../test/use-schedules.ts";
import { addSchedule } from "./change-schedules.ts";
import { findSchedule } from "./read-schedules.ts";
import { runTick } from "./run-tick.ts";
import { runScript } from "./schedules-in-redis.ts";

const { start } = useSchedules();
const dayMs = 86_400_000;
const newer = (id: string) => tenantSchedule({ id, action: "sendNewer", cadence: { everyMs: 7 * dayMs }, data: mail });

async function tickLate(id: string, lateMs: number) {
  const stored = (await findSchedule(id)) ?? expect.fail("expected it stored");
  const dueMs = stored.dueMs ?? expect.fail("expected it due");
  return runTick({ ...stored, dueMs }, dueMs + lateMs, { log: silent, workspaces: undefined });
}

test("a run whose action this process does not know is left to a newer one for a day, and skipped then", async () => {
  await addSchedule(newer("bounded"), 10);
  await expect(tickLate("bounded", dayMs)).rejects.toMatchObject({ code: "unknown_action" });
  expect(await tickLate("bounded", dayMs + 1)).toMatchObject({
    skipped: 1,
    runs: 0,
    lastSkip: { code: "unknown_action" },
  });
});

test("in a rolling deploy an old process gives a newer one's run back, says so once, and the run is not lost", async () => {
  await addSchedule(newer("rolling"), 10);
  await letTimePass("rolling", 7 * dayMs);
  const { log, lines } = keptLog();
  await start({ log });
  const said = () => lines.filter(({ code }) => code === "schedule_action_unknown");
  await expect.poll(said, { timeout: 10_000 }).toMatchObject([{ scheduleId: "rolling" }]);
  const givenBack = `return redis.call("ZSCORE", due, "rolling") > text(now()) and 1 or 0`;
  await expect.poll(() => runScript(givenBack)).toBe(1);
  // At once instead of after its wait.
  await runScript(`redis.call("ZADD", due, 0, "rolling")`);
  await expect.poll(() => runScript(givenBack), { timeout: 10_000 }).toBe(1);
  expect(said()).toHaveLength(1);
  expect((await findSchedule("rolling"))?.counts).toEqual({ runs: 0, missed: 0, skipped: 0 });
  // What a process that knows the action makes of it.
  await runScript(
    `local key = byId .. ":rolling"
    redis.call("HSET", key, "definition", (redis.call("HGET", key, "definition"):gsub("sendNewer", "sendEmail")))
    redis.call("ZADD", due, 0, "rolling")`,
  );
  await expect.poll(async () => (await addedJobs()).length, { timeout: 10_000 }).toBe(1);
});

test("a schedule that cannot be read is said once, however often it is taken up", async () => {
  await addSchedule(tenantSchedule({ id: "damaged" }), 10);
  await runScript(`redis.call("HSET", byId .. ":damaged", "definition", "no JSON")`);
  const { log, lines } = keptLog();
  await start({ log });
  const said = () => lines.filter(({ code }) => code === "schedule_unreadable");
  await expect.poll(() => said().length, { timeout: 10_000 }).toBe(1);
  await runScript(`redis.call("ZADD", due, 0, "damaged")`);
  await expect
    .poll(() => runScript(`return redis.call("ZSCORE", due, "damaged") > text(now()) and 1 or 0`), { timeout: 10_000 })
    .toBe(1);
  expect(said()).toHaveLength(1);
});
