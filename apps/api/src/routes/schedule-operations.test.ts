import { registerSchedules } from "@millrace/schedules";
import { afterEach, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

afterEach(async () => {
  const { items } = (await ask("GET", "/schedules?limit=200")).json();
  for (const { id } of items) await ask("DELETE", `/schedules/${id}`);
  await registerSchedules([]);
});
const ask = (method: "GET" | "POST" | "PUT" | "DELETE", url: string, payload?: object) =>
  app().inject({ method, url, headers: bearer, ...(payload && { payload }) });
const hourly = { workspaceId: "workspace-1", everyMs: 3_600_000, queue: "email", action: "sendEmail", data: mail };

test("a schedule is paused, says so, goes on when it is resumed, and each is in the audit log with what came of it", async () => {
  const made = (await ask("POST", "/schedules", hourly)).json();
  const url = `/schedules/${made.id}`;
  const paused = await ask("POST", `${url}/pause`);
  expect(paused.json()).toMatchObject({ id: made.id, nextRun: null, nextRuns: [] });
  expect(Date.parse(paused.json().pausedAt)).toBeGreaterThan(0);
  expect((await ask("POST", `${url}/pause`)).json()).toEqual(paused.json());
  expect((await ask("GET", "/schedules?workspaceId=workspace-1")).json().items).toMatchObject([
    { pausedAt: paused.json().pausedAt },
  ]);
  const resumed = await ask("POST", `${url}/resume`);
  expect(resumed.json()).toEqual(made);
  expect((await ask("POST", `${url}/resume`)).json()).toEqual(made);
  const { items } = (await ask("GET", "/audit?action=schedule.pause")).json();
  expect(items.slice(0, 2)).toMatchObject(
    ["already_paused", "paused"].map((outcome) => ({ target: { id: made.id }, details: { outcome } })),
  );
  for (const operation of ["pause", "resume"]) {
    expectProblem(await ask("POST", `/schedules/nobody/${operation}`), 404, "unknown_schedule");
  }
});

test("a schedule is replaced under its id, with what it did so far, and not by one of another workspace", async () => {
  const made = (await ask("POST", "/schedules", hourly)).json();
  const url = `/schedules/${made.id}`;
  expect((await ask("POST", `${url}/run`)).statusCode).toBe(202);
  const { lastRun } = (await ask("GET", url)).json();
  const replaced = await ask("PUT", url, { ...hourly, overlap: "queue" });
  expect(replaced.json()).toMatchObject({ id: made.id, overlap: "queue", nextRun: made.nextRun, lastRun });
  const weekly = await ask("PUT", url, { ...hourly, everyMs: undefined, cron: "0 9 * * MON", timeZone: "UTC" });
  expect(weekly.json()).toMatchObject({ cron: "0 9 * * MON", overlap: "skip", lastRun });
  expect(weekly.json()).not.toHaveProperty("everyMs");
  expect(weekly.body).not.toContain("MARKER");
  for (const wrong of [{ workspaceId: "workspace-2" }, { everyMs: 1 }, { data: {} }]) {
    expectProblem(await ask("PUT", url, { ...hourly, ...wrong }), 400, "invalid_request");
  }
  expectProblem(await ask("PUT", "/schedules/nobody", hourly), 404, "unknown_schedule");
  expect((await ask("GET", url)).json()).toEqual(weekly.json());
});
