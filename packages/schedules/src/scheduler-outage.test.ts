import { startRedis } from "@millrace/dev-services";
import { closeQueues } from "@millrace/worker-config";
import { expect, test, vi } from "vitest";
import { addedJobs, codeSchedule, keptLog, tenantSchedule } from "../test/use-schedules.ts";
import { addSchedule } from "./change-schedules.ts";
import { findSchedule } from "./read-schedules.ts";
import { createScheduler } from "./scheduler.ts";

test("Redis away when a run is due: it comes within ten seconds of its return, also when Redis has lost everything", async () => {
  const first = await startRedis({ choice: "embedded" });
  vi.stubEnv("REDIS_URL", first.url);
  const port = Number(new URL(first.url).port);
  const { log, lines } = keptLog();
  const schedules = [codeSchedule("often", 200)];
  const scheduler = createScheduler({ schedules, log, workspaces: undefined, repairEveryMs: 100 });
  await scheduler.start();
  await addSchedule(tenantSchedule({ id: "tenants", cadence: { everyMs: 200 } }), 10);
  const runsOf = async (id: string) => (await findSchedule(id))?.counts.runs ?? 0;
  await expect.poll(() => runsOf("tenants"), { timeout: 10_000 }).toBeGreaterThan(0);

  // Silent, as behind a broken network, and with its data: both go on.
  const pid = first.pid ?? expect.fail("expected a Redis of our own");
  process.kill(pid, "SIGSTOP");
  await vi.waitFor(() => expect(lines.map(({ code }) => code)).toContain("schedules_unreachable"), 10_000);
  const jobs = await (async () => {
    process.kill(pid, "SIGCONT");
    return (await addedJobs()).length;
  })();
  await expect.poll(async () => (await addedJobs()).length, { timeout: 10_000 }).toBeGreaterThan(jobs + 1);

  // Gone with its data: the code's own come back by themselves.
  await first.stop();
  await expect
    .poll(() => scheduler.check().catch((error: Error) => error.message), { timeout: 10_000 })
    .toMatch(/Redis/);
  const second = await startRedis({ choice: "embedded", port });
  await expect.poll(() => runsOf("often"), { timeout: 10_000 }).toBeGreaterThan(0);
  await expect.poll(() => scheduler.check(), { timeout: 10_000 }).toBeUndefined();
  expect(lines.map(({ code }) => code)).toContain("schedules_registered_anew");
  await scheduler.close();
  await closeQueues();
  await second.stop();
});
