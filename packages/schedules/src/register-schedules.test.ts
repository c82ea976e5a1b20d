import { emailContract } from "@millrace/worker-config";
import { expect, test } from "vitest";
import { codeSchedule, mail, tenantSchedule, useSchedules } from "../test/use-schedules.ts";
import { addSchedule } from "./change-schedules.ts";
import { defineSchedule } from "./define-schedule.ts";
import { findSchedule, listSchedules } from "./read-schedules.ts";
import { planSchedules, registerSchedules } from "./register-schedules.ts";
import { runScript } from "./schedules-in-redis.ts";

useSchedules();
const hour = 3_600_000;

test("a deploy adds, changes and removes what the code owns, and leaves what a tenant made; a dry run only says so", async () => {
  await registerSchedules([codeSchedule("a", hour), codeSchedule("b", hour), codeSchedule("same", hour)]);
  const tenants = tenantSchedule({ id: "c" });
  await addSchedule(tenants, 10);
  const next = [codeSchedule("a", 2 * hour), codeSchedule("d", hour), codeSchedule("same", hour)];
  const plan = { added: ["d"], updated: ["a"], unchanged: ["same"], removed: ["b"] };
  expect(await planSchedules(next)).toEqual(plan);
  expect(await planSchedules(next)).toEqual(plan);
  expect(await registerSchedules(next)).toMatchObject(plan);
  const { schedules } = await listSchedules();
  expect(schedules.map(({ schedule }) => schedule.id)).toEqual(["a", "c", "d", "same"]);
  expect((await findSchedule("a"))?.schedule.cadence).toEqual({ everyMs: 2 * hour });
  expect((await findSchedule("c"))?.schedule).toEqual(tenants);
});

test("a change of data or policy keeps the next due time, a change of cadence begins a new one", async () => {
  await registerSchedules([codeSchedule("a", hour)]);
  const first = await findSchedule("a");
  await registerSchedules([codeSchedule("a", hour, "skip")]);
  expect(await findSchedule("a")).toMatchObject({ dueMs: first?.dueMs, schedule: { overlap: "skip" } });
  await registerSchedules([codeSchedule("a", 2 * hour)]);
  expect((await findSchedule("a"))?.dueMs).toBeGreaterThan(Number(first?.dueMs) + 0.9 * hour);
});

test("a process that started earlier registers anew when Redis has lost its data, and not over a later one", async () => {
  const earlier = await registerSchedules([codeSchedule("old", hour)]);
  const later = await registerSchedules([codeSchedule("new", hour)]);
  expect(await earlier.renew()).toBeUndefined();
  expect((await listSchedules()).schedules.map(({ schedule }) => schedule.id)).toEqual(["new"]);
  await runScript(`remove("new") redis.call("DEL", registration)`);
  expect(await later.renew()).toMatchObject({ added: ["new"] });
});

const declared = { id: "digest", contract: emailContract, action: "sendEmail", data: mail } as const;

test.each([
  [
    "a time zone that does not exist",
    { cron: "0 3 * * *", timeZone: "Mars/Phobos" },
    /"digest".*timeZone: expected an IANA/,
  ],
  ["seconds", { cron: "* * * * * *", timeZone: "UTC" }, /cron: expected five fields .* got 6/],
  ["a date that does not exist", { cron: "0 0 30 2 *", timeZone: "UTC" }, /cron: expected a date that exists/],
  ["an empty pattern", { cron: "", timeZone: "UTC" }, /cron: expected five fields .* got nothing/],
  [
    "a lock that outlives the cadence",
    { everyMs: 60_000, lock: { timeoutInSeconds: 60 } },
    /expected lock.timeoutInSeconds below .* 60 s, got 60/,
  ],
  [
    "runs that would skip each other",
    { everyMs: 60_000, overlap: "skip", missed: { all: { max: 2 } } },
    /overlap: expected queue/,
  ],
  ["another form of id", { everyMs: 60_000, id: "a:b" }, /id: expected letters/],
] as const)("%s is refused where the schedule is declared", (_, wrong, message) => {
  expect(() => defineSchedule({ ...declared, ...wrong })).toThrow(message);
});

test("data that its action does not take is refused where the schedule is declared, and not repeated", () => {
  const data = { ...mail, to: "MARKER" };
  expect(() => defineSchedule({ ...declared, data, everyMs: 60_000 })).toThrow(/sendEmail is not valid. data.to/);
});

test("two schedules of one id are refused, and nothing is changed", async () => {
  await expect(registerSchedules([codeSchedule("a"), codeSchedule("a")])).rejects.toThrow("ids of their own");
  expect((await listSchedules()).schedules).toEqual([]);
});
