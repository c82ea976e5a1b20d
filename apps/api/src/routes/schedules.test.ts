import { createLogger } from "@millrace/logger";
import { addSchedule, createScheduler, defineSchedule, registerSchedules } from "@millrace/schedules";
import { emailQueue, scheduleContract, scheduleQueue, webhookContract } from "@millrace/worker-config";
import { afterAll, afterEach, expect, test } from "vitest";
import { bearer, createTestApp, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

afterEach(async () => {
  await registerSchedules([]);
  const { items: schedules } = (await app().inject({ url: "/schedules?limit=200", headers: bearer })).json();
  for (const { id } of schedules) await remove(id);
  await emailQueue.obliterate({ force: true });
});
afterAll(async () => {
  await scheduleQueue.obliterate({ force: true });
});
const nightly = {
  workspaceId: "workspace-1",
  cron: "30 2 * * *",
  timeZone: "America/New_York",
  queue: "email",
  action: "sendEmail",
  data: mail,
};
const webhook = { ...webhookContract.actions.deliverWebhook.example, eventId: "evt_scheduled" };
const post = (url: string, payload?: object) =>
  app().inject({ method: "POST", url, headers: bearer, ...(payload && { payload }) });
const read = (url: string) => app().inject({ url, headers: bearer });
const remove = (id: string) => app().inject({ method: "DELETE", url: `/schedules/${id}`, headers: bearer });
const purge = defineSchedule({
  id: "purge",
  cron: "0 3 * * *",
  timeZone: "UTC",
  contract: scheduleContract,
  action: "purgeDeadLetters",
  data: {},
});

test("a schedule that is made can be read with its next five runs, is listed, and is gone when it is removed", async () => {
  const made = await post("/schedules", nightly);
  expect(made.statusCode).toBe(201);
  const { id } = made.json();
  expect(made.headers.location).toBe(`/schedules/${id}`);
  const whole = (await read(`/schedules/${id}`)).json();
  expect(whole).toEqual(made.json());
  const { data: _, ...shown } = nightly;
  expect(whole).toMatchObject({ ...shown, owner: "workspace", overlap: "skip", missed: "once", lastRun: null });
  expect(whole.nextRuns).toHaveLength(5);
  expect(whole.nextRuns[0]).toEqual(whole.nextRun);
  expect(whole.nextRun.local).toMatch(/T0[23]:\d0:00-0[45]:00$/);
  expect(made.body).not.toContain("MARKER");
  const listed = (await read("/schedules?workspaceId=workspace-1")).json();
  expect(listed).toMatchObject({ items: [{ id }], nextCursor: null });
  expect((await read("/schedules?workspaceId=another")).json()).toEqual({ items: [], nextCursor: null });
  expect((await remove(id)).statusCode).toBe(204);
  expectProblem(await read(`/schedules/${id}`), 404, "unknown_schedule");
  expectProblem(await remove(id), 404, "unknown_schedule");
});

test.each([
  ["timeZone", { timeZone: "Mars/Phobos" }, /IANA time zone/],
  ["cron", { cron: "* * * * * *" }, /no seconds/],
  ["cron", { cron: "0 0 30 2 *" }, /a date that exists/],
  ["cron", { cron: "" }, /five fields/],
  ["cron", { cron: undefined, timeZone: undefined }, /either cron or everyMs/],
  ["cron", { cron: 5 }, /expected string/],
  ["everyMs", { cron: undefined, timeZone: undefined, everyMs: 59_999 }, /at least 60000 ms .* got 59999/],
  ["workspaceId", { workspaceId: "" }, /1 to 256 characters/],
  ["queue", { queue: "fax" }, /email/],
  ["queue", { queue: "schedule", action: "purgeDeadLetters", data: {} }, /serves tenants/],
  ["action", { action: "sendFax" }, /no action "sendFax"/],
  ["data.to", { data: { ...mail, to: "MARKER" } }, /email/],
  ["data.delay", { data: { ...mail, delay: 5 } }, /nrecognized/],
  ["workspaceId", { data: { ...mail, workspaceId: "7b0c9a36-61c6-4a8e-9d57-0e9d1ad0a0a1" } }, /the job's data names/],
  ["workspaceId", { queue: "webhook", action: "deliverWebhook", data: webhook }, /the job's data names/],
  ["overlap", { missed: { all: { max: 3 } } }, /queue where missed is all/],
  ["missed", { missed: "twice" }, /nvalid/],
  ["", { colour: "red" }, /colour/],
])("a request that is wrong in %j is refused with a sentence (%j)", async (path, wrong, message) => {
  const response = await post("/schedules", { ...nightly, ...wrong });
  expectProblem(response, 400, "invalid_request");
  const { errors } = response.json<{ errors: { path: string; message: string }[] }>();
  const own = errors.filter((error) => error.path === path || (path === "data.delay" && error.path === "data"));
  expect(own.map((error) => error.message).join(" ")).toMatch(message);
});

test("the runs of a pattern may not come closer than an interval may", async () => {
  const patient = await createTestApp({ scheduleLimits: { minIntervalMs: 3_600_000, maxPerWorkspace: 3 } });
  const send = (cron: string) =>
    patient.inject({ method: "POST", url: "/schedules", headers: bearer, payload: { ...nightly, cron } });
  expectProblem(await send("0,59 2 * * *"), 400, "invalid_request");
  expect((await send("0 * * * *")).statusCode).toBe(201);
  await patient.close();
});

test("no body, or one that is no object, is a 400 as well", async () => {
  expectProblem(await post("/schedules"), 400, "invalid_request");
  expectProblem(await post("/schedules", []), 400, "invalid_request");
  expectProblem(await post("/schedules/preview"), 400, "invalid_request");
  expectProblem(await read("/schedules?limit=0"), 400, "invalid_request");
});

test("a workspace has no more schedules than it may", async () => {
  for (let made = 0; made < 3; made++) expect((await post("/schedules", nightly)).statusCode).toBe(201);
  expectProblem(await post("/schedules", nightly), 409, "too_many_schedules");
  expect((await post("/schedules", { ...nightly, workspaceId: "another" })).statusCode).toBe(201);
});

test("a preview shows local time and UTC over a change of clocks, and stores nothing", async () => {
  const payload = { cron: "30 2 * * *", timeZone: "America/New_York", count: 2, from: "2026-03-08T00:00:00Z" };
  expect((await post("/schedules/preview", payload)).json()).toEqual({
    runs: [
      { utc: "2026-03-08T07:00:00.000Z", local: "2026-03-08T03:00:00-04:00" },
      { utc: "2026-03-09T06:30:00.000Z", local: "2026-03-09T02:30:00-04:00" },
    ],
  });
  expectProblem(await post("/schedules/preview", { ...payload, timeZone: "Mars/Phobos" }), 400, "invalid_request");
  expect((await read("/schedules")).json().items).toEqual([]);
});

test.each(["0050-06-01T00:00:00Z", "1969-12-31T23:59:59Z", "9000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])(
  "a preview from %s, where times cannot be told, is refused",
  async (from) => {
    expectProblem(await post("/schedules/preview", { cron: "0 0 29 2 *", from, count: 100 }), 400, "invalid_request");
  },
);

test("the latest preview there is shows a hundred runs", async () => {
  const payload = { cron: "0 0 29 2 *", from: "8999-12-31T23:59:59Z", count: 100 };
  expect((await post("/schedules/preview", payload)).json().runs).toHaveLength(100);
});

test("run now answers with the job, which is the last run; while it has not ended, skip is a conflict", async () => {
  const { id } = (await post("/schedules", nightly)).json();
  const ran = await post(`/schedules/${id}/run`);
  expect([ran.statusCode, ran.json()]).toEqual([
    202,
    { jobId: expect.any(String), queue: "email", action: "sendEmail" },
  ]);
  expect((await read(`/jobs/email/${ran.json().jobId}`)).json().status).toBe("pending");
  expect((await read(`/schedules/${id}`)).json()).toMatchObject({
    lastRun: { jobId: ran.json().jobId, due: null },
    lastJobStatus: "pending",
  });
  expectProblem(await post(`/schedules/${id}/run`), 409, "still_running");
  await post(`/jobs/email/${ran.json().jobId}/cancel`);
  expectProblem(await post("/schedules/none/run"), 404, "unknown_schedule");
});

test("what the code owns can be seen, run, paused and resumed, and neither replaced nor removed", async () => {
  await registerSchedules([purge]);
  expect((await read("/schedules/purge")).json()).toMatchObject({ owner: "code", workspaceId: null, timeZone: "UTC" });
  expect((await post("/schedules/purge/run")).statusCode).toBe(202);
  expect((await post("/schedules/purge/pause")).json()).toMatchObject({ owner: "code", nextRun: null });
  expect((await post("/schedules/purge/resume")).json()).toMatchObject({ pausedAt: null });
  const replaced = await app().inject({ method: "PUT", url: "/schedules/purge", headers: bearer, payload: nightly });
  expectProblem(replaced, 409, "owned_by_code");
  expectProblem(await remove("purge"), 409, "owned_by_code");
  expect((await read("/schedules/purge")).statusCode).toBe(200);
});

test("a schedule of the API fires, survives a restart of whoever carries it out, and fires no more when it is removed", async () => {
  const often = await createTestApp({ scheduleLimits: { minIntervalMs: 100, maxPerWorkspace: 3 } });
  const { cron: _, timeZone: __, ...rest } = nightly;
  const payload = { ...rest, everyMs: 150, overlap: "queue" };
  const made = await often.inject({ method: "POST", url: "/schedules", headers: bearer, payload });
  const { id } = made.json();
  const runs = async () => (await read(`/schedules/${id}`)).json().counts.runs;
  for (const atLeast of [1, 3]) {
    const options = { schedules: [], log: createLogger({ level: "silent" }), workspaces: undefined };
    const scheduler = createScheduler(options);
    await scheduler.start();
    await expect.poll(runs, { timeout: 10_000 }).toBeGreaterThan(atLeast);
    if (atLeast === 3) expect((await remove(id)).statusCode).toBe(204);
    await scheduler.close();
  }
  const added = await emailQueue.count();
  expect(added).toBeGreaterThan(3);
  const next = createScheduler({ schedules: [], log: createLogger({ level: "silent" }), workspaces: undefined });
  await next.start();
  // Another one's tick shows that this process has looked.
  const witness = {
    id: "witness",
    workspaceId: "w",
    cadence: { everyMs: 100 },
    queue: "email",
    action: "sendEmail",
  } as const;
  await addSchedule({ ...witness, data: mail, overlap: "queue", missed: "once" }, 3);
  await expect
    .poll(async () => (await read("/schedules/witness")).json().counts.runs, { timeout: 10_000 })
    .toBeGreaterThan(0);
  await next.close();
  const witnessed = (await read("/schedules/witness")).json().counts.runs;
  expect(await emailQueue.count()).toBe(added + witnessed);
  await often.close();
});
