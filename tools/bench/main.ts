import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { startRedis } from "@millrace/dev-services";
import { runUntilSignal } from "../run-until-signal.ts";
import { measureEnqueue } from "./measure-enqueue.ts";
import { measureRate } from "./measure-rate.ts";
import { type Measurement, type SubjectName, subjects } from "./measurement.ts";
import { budgets, reportBudgets } from "./report.ts";

/**
 * `pnpm bench`: Millrace's host beside raw BullMQ, in turns within one run on one real Redis, each turn in a process of its own. It
 * prints every ratio with its spread and never fails on a time.
 */
await runUntilSignal(async (cleanUp) => {
  const { values } = parseArgs({
    options: { jobs: { type: "string", default: "20000" }, rounds: { type: "string", default: "5" } },
  });
  const jobs = toCount("--jobs", values.jobs);
  const rounds = toCount("--rounds", values.rounds);
  const redis = await startRedis({ choice: "server" });
  cleanUp(redis.stop);
  const measured = new Map<string, Measurement[]>();
  for (let round = 1; round <= rounds; round++) {
    process.stdout.write(`round ${round} of ${rounds}\n`);
    for (const turn of turnsOf(round)) {
      // A job that takes 5 ms is measured with fewer of them.
      const count = subjects[turn.subject].handlerMs > 0 ? Math.ceil(jobs / 4) : jobs;
      const measurement = await measure(redis.url, turn.subject, count);
      measured.set(turn.label, [...(measured.get(turn.label) ?? []), measurement]);
    }
  }
  process.stdout.write(`${reportBudgets(measured)}\n`);
  process.stdout.write(await measureEnqueue(redis.url, rounds));
  process.stdout.write(await measureRate(redis.url));
  await redis.stop();
  process.exit(0);
});

/** Every label of a budget once per round; every other round backwards, so that a machine that slows down slows both sides of a ratio. */
function turnsOf(round: number): { label: string; subject: SubjectName }[] {
  const labels = new Map(
    budgets.flatMap(({ baseline, subject }) => [
      [baseline.label, baseline],
      [subject.label, subject],
    ]),
  );
  const turns = [...labels.values()];
  return round % 2 === 0 ? turns.reverse() : turns;
}

async function measure(redisUrl: string, subject: SubjectName, jobs: number): Promise<Measurement> {
  const child = fork(new URL("./measure.ts", import.meta.url), [redisUrl, subject, String(jobs)], {
    execArgv: ["--conditions=millrace-source"],
  });
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`The measurement of ${subject} ended with code ${code} and no result.`);
  });
  const [measurement] = await Promise.race([once(child, "message"), exited]);
  exited.catch(() => {});
  return measurement;
}

function toCount(name: string, value: string): number {
  const count = Number(value);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`${name}: expected a positive whole number, got ${value}.`);
}
