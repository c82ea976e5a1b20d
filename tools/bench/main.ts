import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { startRedis } from "@millrace/dev-services";
import { runUntilSignal } from "../run-until-signal.ts";
import { measureEnqueue } from "./measure-enqueue.ts";
import { measureRate } from "./measure-rate.ts";
import { measureStats } from "./measure-stats.ts";
import { type Measurement, subjects } from "./measurement.ts";
import { reportBudgets, type Side, sides } from "./report.ts";

/**
 * `pnpm bench`: Millrace's host beside raw BullMQ on one real Redis, each in a process of its own that stays warm. They take turns of a fraction of a
 * second, so that what slows the machine down slows both sides of a ratio; and after a part of the rounds they begin anew in other processes, since what
 * the compiler makes of the same code differs from one to the next by a tenth. It prints every ratio with its spread and never fails on a time.
 */
await runUntilSignal(async (cleanUp) => {
  const { values } = parseArgs({
    options: {
      jobs: { type: "string", default: "2000" },
      rounds: { type: "string", default: "30" },
      processes: { type: "string", default: "3" },
    },
  });
  const jobs = toCount("--jobs", values.jobs);
  const rounds = toCount("--rounds", values.rounds);
  const roundsPerProcess = Math.ceil(rounds / toCount("--processes", values.processes));
  const redis = await startRedis({ choice: "server" });
  cleanUp(redis.stop);
  const measured = new Map<string, Measurement[]>(sides.map(({ label }) => [label, []]));
  for (let first = 1; first <= rounds; first += roundsPerProcess) {
    const contestants: Contestant[] = [];
    for (const side of sides) {
      process.stdout.write(`warming up: ${side.label}\n`);
      contestants.push(await startContestant(redis.url, side, jobs));
    }
    for (let round = first; round < first + roundsPerProcess && round <= rounds; round++) {
      process.stdout.write(`round ${round} of ${rounds}\n`);
      for (const { label, takeTurn } of turnsOf(round, contestants)) measured.get(label)?.push(await takeTurn());
    }
    await Promise.all(contestants.map(({ stop }) => stop()));
  }
  process.stdout.write(`${reportBudgets(measured)}\n`);
  process.stdout.write(await measureEnqueue(redis.url, rounds));
  process.stdout.write(await measureRate(redis.url));
  process.stdout.write(await measureStats(redis.url));
  await redis.stop();
  process.exit(0);
});

interface Contestant {
  readonly label: string;
  takeTurn(): Promise<Measurement>;
  stop(): Promise<unknown>;
}

/** Everyone once per round; every other round backwards, so that nobody is always the one after a certain other. */
function turnsOf(round: number, contestants: readonly Contestant[]): readonly Contestant[] {
  return round % 2 === 0 ? contestants.toReversed() : contestants;
}

async function startContestant(redisUrl: string, { label, subject }: Side, jobs: number): Promise<Contestant> {
  // A job that takes 5 ms is measured with fewer of them.
  const jobsPerTurn = subjects[subject].handlerMs > 0 ? Math.ceil(jobs / 4) : jobs;
  const child = fork(new URL("./subject-process.ts", import.meta.url), [redisUrl, subject, String(jobsPerTurn)], {
    execArgv: ["--conditions=millrace-source"],
  });
  const ended = once(child, "exit");
  const exited = ended.then(([code]) => {
    throw new Error(`The measurement of ${label} ended with code ${code} and no result.`);
  });
  exited.catch(() => {});
  const answer = async () => (await Promise.race([once(child, "message"), exited]))[0];
  await answer();
  return {
    label,
    takeTurn: () => {
      child.send("turn");
      return answer();
    },
    stop: () => {
      child.disconnect();
      return ended;
    },
  };
}

function toCount(name: string, value: string): number {
  const count = Number(value);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`${name}: expected a positive whole number, got ${value}.`);
}
