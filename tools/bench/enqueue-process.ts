import { redisConnectionOptions } from "@millrace/redis";
import { closeQueues, enqueue } from "@millrace/worker-config";
import { Queue } from "bullmq";
import { benchContract, benchData } from "./contract.ts";

// In one process and in turns, every other round backwards: what slows the machine down slows every side.
const [redisUrl = "", prefix = "", rounds = "0"] = process.argv.slice(2);
const jobsPerTurn = 2_000;
const atOnce = 100;

const raw = new Queue(benchContract.name, { connection: redisConnectionOptions("producer", redisUrl), prefix });

const sides: Record<string, (indexes: readonly number[]) => Promise<unknown>> = {
  addBulk: (indexes) =>
    raw.addBulk(indexes.map((index) => ({ name: "run", data: { type: "run", data: benchData(index) } }))),
  add: (indexes) => Promise.all(indexes.map((index) => raw.add("run", { type: "run", data: benchData(index) }))),
  enqueue: (indexes) => Promise.all(indexes.map((index) => enqueue(benchContract, "keyed", benchData(index)))),
  // Its contract names a workspace: it has an id of its own and goes into the index, in a transaction.
  enqueueFound: (indexes) => Promise.all(indexes.map((index) => enqueue(benchContract, "run", benchData(index)))),
};

async function runTurn(side: string): Promise<number> {
  const startedAt = performance.now();
  for (let next = 0; next < jobsPerTurn; next += atOnce) {
    await sides[side]?.(Array.from({ length: atOnce }, (_, each) => next + each));
  }
  const perSecond = (jobsPerTurn * 1_000) / (performance.now() - startedAt);
  await raw.obliterate({ force: true });
  return perSecond;
}

// The first turns compile what the later ones run.
for (const side of Object.keys(sides)) await runTurn(side);
const measured: Record<string, number>[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const names = round % 2 === 0 ? Object.keys(sides) : Object.keys(sides).reverse();
  const rates: Record<string, number> = {};
  for (const side of names) rates[side] = await runTurn(side);
  measured.push(rates);
}
await raw.close();
await closeQueues();
process.send?.(measured);
process.disconnect?.();
