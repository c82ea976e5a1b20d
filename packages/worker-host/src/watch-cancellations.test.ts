import { getRedisConnection } from "@millrace/worker-config";
import { cancelChannel, cancelledReason, defineQueue, parseJobFailure } from "@millrace/worker-config/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type Network, startNetwork } from "../test/network.ts";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";

const contract = defineQueue("default", { run: { data: z.object({}), timeout: 5_000 } });
const { prefix, raw, work, add, ended } = useQueue(contract);
let network: Network;

beforeAll(async () => {
  network = await startNetwork(getRedisConnection("worker"));
});
afterAll(() => network.close());

/** A worker behind the network, whose jobs end when they are aborted. */
async function workBehindNetwork(onStart: (context: JobContext) => void): Promise<void> {
  const run = async (_: unknown, context: JobContext) => {
    onStart(context);
    const { signal } = context;
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  await work({ run }, { connection: { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port } });
}

/** What `cancelJob` of `@millrace/job-admin` does to a running job. */
async function cancel(jobId: string): Promise<void> {
  const client = await raw.getBackend().client;
  await client.runCommand("hset", [raw.toKey(jobId), "defa", cancelledReason]);
  await client.runCommand("publish", [cancelChannel(prefix, "default"), jobId]);
}

async function codeOf(jobId: string): Promise<string> {
  return parseJobFailure((await ended(jobId)).failedReason).code;
}

test("a job that is cancelled on its way from Redis to its worker is cancelled", async () => {
  const hasHeard = Promise.withResolvers<void>();
  const hasStarted = Promise.withResolvers<void>();
  await workBehindNetwork(({ signal }) => {
    hasStarted.resolve();
    signal.addEventListener("abort", () => hasHeard.resolve());
  });
  const running = await add("run", {});
  await hasStarted.promise;
  const jobId = "on-its-way";
  const fetched = network.holdReplyWith(jobId);
  await add("run", {}, { jobId, attempts: 1 });
  const deliver = await fetched;
  await cancel(jobId);
  // Messages come in their order: who heard the second one has read the first.
  await cancel(running);
  await hasHeard.promise;
  deliver();
  expect(await codeOf(jobId)).toBe("cancelled");
});

test("a job that is cancelled before its worker hears of cancellations is cancelled when it does", async () => {
  const started = Promise.withResolvers<void>();
  const subscribed = network.holdReplyWith("subscribe");
  const working = workBehindNetwork(() => started.resolve());
  const jobId = await add("run", {}, { attempts: 1 });
  await started.promise;
  const deliver = await subscribed;
  // A message that is published before SUBSCRIBE reaches nobody.
  await (await raw.getBackend().client).runCommand("hset", [raw.toKey(jobId), "defa", cancelledReason]);
  deliver();
  expect(await codeOf(jobId)).toBe("cancelled");
  await working;
});

test("a worker that stops while it subscribes anew, after an outage, ends in order", async () => {
  const rejected: unknown[] = [];
  const onRejection = (reason: unknown) => rejected.push(reason);
  process.on("unhandledRejection", onRejection);
  const connection = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
  const worker = await work({ run: async () => {} }, { connection });
  const subscribing = network.holdReplyWith("subscribe");
  network.cut();
  network.mend();
  await subscribing;
  await worker.stop(5_000);
  await expect.poll(() => network.connections()).toBe(0);
  await new Promise(setImmediate);
  process.off("unhandledRejection", onRejection);
  expect(rejected).toEqual([]);
});

test("a job that is cancelled while its worker's connection is lost is cancelled when it is back", async () => {
  const started = Promise.withResolvers<void>();
  await workBehindNetwork(() => started.resolve());
  const jobId = await add("run", {}, { attempts: 1 });
  await started.promise;
  network.cut();
  await cancel(jobId);
  network.mend();
  expect(await codeOf(jobId)).toBe("cancelled");
});
