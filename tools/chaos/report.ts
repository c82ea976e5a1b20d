import type { PlannedJob } from "./plan-jobs.ts";
import type { Acknowledgement } from "./producer.ts";
import type { Effect } from "./provider.ts";
import type { JobEnd, Verdict } from "./verify.ts";

/** What a run came to. */
export interface Report extends Verdict {
  readonly options: { readonly jobs: number; readonly seconds: number; readonly seed: number };
  readonly plan: readonly PlannedJob[];
  readonly acknowledgements: ReadonlyMap<string, Acknowledgement>;
  readonly effects: ReadonlyMap<string, Effect>;
  /** How many jobs were asked for patience. */
  readonly throttled: number;
  readonly fleet: { readonly kills: number; readonly deploys: number };
  readonly redis: { readonly shutdowns: number; readonly kills: number; readonly connectionsCut: number };
  readonly canRestartRedis: boolean;
  /** Starts that ended with their process, or with the job's lock. */
  readonly stalls: number;
  readonly seconds: number;
}

const faultsShown = 20;

/** The run as a table, and below it a sentence per broken promise. */
export function renderReport(report: Report): string {
  const rows = rowsOf(report);
  const width = Math.max(...rows.map(([name]) => name.length));
  const { faults } = report;
  const left = faults.length - faultsShown;
  return [
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    "",
    ...(faults.length === 0 ? ["Every promise held."] : [`Broken: ${faults.length}`]),
    ...faults.slice(0, faultsShown).map((fault) => `  ${fault}`),
    ...(left > 0 ? [`  … and ${left} more.`] : []),
    "",
  ].join("\n");
}

function rowsOf(report: Report): [name: string, value: string | number][] {
  const { options, acknowledgements, fleet, redis } = report;
  const ends = Map.groupBy(report.ends.values(), (end) => end);
  const count = (...names: string[]) => names.reduce((sum, name) => sum + (ends.get(name)?.length ?? 0), 0);
  const countLike = (beginning: string) => count(...[...ends.keys()].filter((end) => end.startsWith(beginning)));
  const failures = [...ends.keys()].filter((end) => end.startsWith("failed: ")).sort();
  const refusals = [...acknowledgements.values()].reduce((sum, { refusals }) => sum + refusals, 0);
  return [
    ["jobs", options.jobs],
    ["acknowledged", acknowledgements.size],
    ["enqueues asked again", refusals],
    ["completed", count("completed")],
    ["skipped", count("skipped")],
    ...failures.map((end): [string, string] => [end, countByAction(report, end)]),
    ["cancelled", count("cancelled")],
    ["lost", count("lost")],
    ["stuck", countLike("stuck")],
    ["in two places", countLike("twice")],
    ...effectRows(report),
    ["jobs asked for patience", report.throttled],
    ["starts cut short", report.stalls],
    ["workers killed", fleet.kills],
    ["workers deployed away", fleet.deploys],
    ["Redis restarts", redisRestarts(report)],
    ["connections cut", redis.connectionsCut],
    ["seconds", Math.round(report.seconds)],
    ["seed", options.seed],
  ];
}

/** Which kinds of jobs ended so: a short one that is poison would be strange, a slow one was there at three kills. */
function countByAction({ plan, ends }: Report, end: JobEnd): string {
  const actions = Map.groupBy(
    plan.filter(({ jobId }) => ends.get(jobId) === end),
    ({ job }) => job.type,
  );
  const total = [...actions.values()].reduce((sum, jobs) => sum + jobs.length, 0);
  return `${total} (${[...actions].map(([action, jobs]) => `${jobs.length} ${action}`).join(", ")})`;
}

function effectRows({ plan, effects }: Report): [name: string, value: number][] {
  const payments = new Set(plan.flatMap(({ job }) => (job.type === "charge" ? [job.data.payment] : [])));
  const taken = [...effects].filter(([key]) => payments.has(key));
  const others = [...effects].filter(([key]) => !payments.has(key));
  const repeats = (some: typeof taken) => some.reduce((sum, [, { askedBy }]) => sum + askedBy.length - 1, 0);
  return [
    ["effects with a key", taken.length],
    ["  repeated calls recognised", repeats(taken)],
    ["effects without a key", others.length],
    ["  of them repeated", repeats(others)],
  ];
}

function redisRestarts({ redis, canRestartRedis }: Report): string {
  if (!canRestartRedis) return "left out: the embedded Redis holds memory only. Install redis-server for them.";
  return `${redis.shutdowns} clean, ${redis.kills} killed`;
}
