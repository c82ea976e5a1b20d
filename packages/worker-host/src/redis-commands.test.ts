import { defaultWorkerOptions, getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { Worker } from "bullmq";
import { expect, test } from "vitest";
import { z } from "zod";
import { countCommands } from "../test/count-commands.ts";
import { useQueue } from "../test/use-queue.ts";

const contract = defineQueue("default", {
  plain: { data: z.object({ index: z.number() }) },
  keyed: { data: z.object({ index: z.number() }), idempotencyKey: ({ index }) => `effect-${index}` },
});
const { prefix, raw, work } = useQueue(contract);
let added = 0;

/** The commands that each further job costs: what starting and stopping a worker costs cancels out. */
async function commandsPerJob(
  action: "plain" | "keyed",
  start: (handler: () => Promise<void>) => Promise<{ stop(): Promise<unknown> }>,
): Promise<number> {
  const commandsOf = async (jobs: number) => {
    await raw.addBulk(
      Array.from({ length: jobs }, () => {
        added += 1;
        return { name: action, data: { type: action, data: { index: added } } };
      }),
    );
    let left = jobs;
    const done = Promise.withResolvers<void>();
    return countCommands(async () => {
      const worker = await start(async () => {
        left -= 1;
        if (left === 0) done.resolve();
      });
      await done.promise;
      await worker.stop();
    });
  };
  const few = await commandsOf(20);
  const perJob = ((await commandsOf(120)) - few) / 100;
  // A command that falls into one of the runs by chance, as a look for stalled jobs does, is a hundredth of one per job.
  return Math.round(perJob * 10) / 10;
}

async function startRaw(handler: () => Promise<void>) {
  const connection = getRedisConnection("worker");
  const worker = new Worker(contract.name, handler, { ...defaultWorkerOptions, connection, prefix, concurrency: 1 });
  await worker.waitUntilReady();
  return { stop: () => worker.close() };
}

async function startHost(handler: () => Promise<void>) {
  const worker = await work({ plain: handler, keyed: handler }, { concurrency: 1 });
  return { stop: () => worker.stop(10_000) };
}

test("a job costs no more commands than on BullMQ alone, and two more where its effect must happen once", async () => {
  const bullmq = await commandsPerJob("plain", startRaw);
  expect(bullmq).toBe(1);
  expect(await commandsPerJob("plain", startHost)).toBe(bullmq);
  expect(await commandsPerJob("keyed", startHost)).toBe(bullmq + 2);
});
