import { expect, test } from "vitest";
import { planFaults } from "./plan-faults.ts";
import { planJobs } from "./plan-jobs.ts";

test("the same seed plans the same jobs and the same kills, and another seed others", () => {
  expect(planJobs(7, 500, 10)).toEqual(planJobs(7, 500, 10));
  expect(planJobs(8, 500, 10)).not.toEqual(planJobs(7, 500, 10));
  expect(planFaults(7, 60, 3, true)).toEqual(planFaults(7, 60, 3, true));
  expect(planFaults(8, 60, 3, true)).not.toEqual(planFaults(7, 60, 3, true));
});

test("a plan holds every kind of job, each under an id of its own, over the whole time", () => {
  const plan = planJobs(7, 2_000, 10);
  expect(new Set(plan.map(({ jobId }) => jobId)).size).toBe(2_000);
  expect([...new Set(plan.map(({ job }) => job.type))].sort()).toEqual([
    "charge",
    "flaky",
    "plain",
    "refused",
    "slow",
    "throttled",
  ]);
  expect(plan.filter(({ cancelAfterMs }) => cancelAfterMs !== undefined).length).toBeGreaterThan(50);
  expect([plan[0]?.dueMs, plan.at(-1)?.dueMs]).toEqual([0, 9_995]);
});

test("several jobs share each payment", () => {
  const payments = planJobs(7, 2_000, 10).flatMap(({ job }) => (job.type === "charge" ? [job.data.payment] : []));
  const sizes = [...Map.groupBy(payments, (payment) => payment).values()].map((jobs) => jobs.length);
  expect(Math.max(...sizes)).toBe(4);
  expect(sizes.length).toBe(Math.ceil(payments.length / 4));
});

test("workers are killed and deployed away at every place, and Redis is restarted cleanly and by a kill", () => {
  const { workers, redis } = planFaults(7, 90, 3, true);
  expect(new Set(workers.map(({ worker }) => worker))).toEqual(new Set([0, 1, 2]));
  expect(new Set(workers.map(({ kind }) => kind))).toEqual(new Set(["kill", "deploy"]));
  expect(redis.flatMap((fault) => (fault.kind === "restart" ? [fault.how] : []))).toEqual([
    "shutdown",
    "kill",
    "shutdown",
  ]);
  expect(redis.map(({ atMs }) => atMs)).toEqual(redis.map(({ atMs }) => atMs).sort((one, other) => one - other));
});

test("a short run restarts Redis twice, and one that would forget its jobs not at all", () => {
  const restarts = (canRestart: boolean) =>
    planFaults(7, 9, 3, canRestart).redis.filter(({ kind }) => kind === "restart");
  expect(restarts(true).length).toBe(2);
  expect(restarts(false)).toEqual([]);
});
