import { getRedisConnection } from "@millrace/worker-config";
import { cancelChannel, cancelledReason, defineQueue } from "@millrace/worker-config/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type ReplyDropper, startReplyDropper } from "../test/reply-dropper.ts";
import { useQueue } from "../test/use-queue.ts";

const contract = defineQueue("default", { hold: { data: z.object({}) } });
const { prefix, raw, work, add, ended } = useQueue(contract);
let network: ReplyDropper;

beforeAll(async () => {
  network = await startReplyDropper(getRedisConnection("worker"));
});
afterAll(() => network.close());

async function redis(command: string, ...parameters: string[]) {
  return (await raw.getBackend().client).runCommand(command, parameters);
}

/** As the administration calls a job off, by its record and by a message. */
const callOffQuietly = (jobId: string) => redis("hset", raw.toKey(jobId), "defa", cancelledReason);
const sayCalledOff = (jobId: string) => redis("publish", cancelChannel(prefix, "default"), jobId);

/** A worker behind the network, whose jobs run until their signal aborts. It says which runs. */
async function holdBehindNetwork() {
  const running = new Set<string>();
  await work(
    {
      hold: async (_, { jobId, signal }) => {
        running.add(jobId);
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            running.delete(jobId);
            reject(signal.reason);
          });
        });
      },
    },
    { connection: { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port } },
  );
  return running;
}

test("a job that is called off while the reply which brings it is under way ends as called off, and not another one", async () => {
  const running = await holdBehindNetwork();
  const other = await add("hold", {});
  await expect.poll(() => running.has(other)).toBe(true);
  const held = network.holdReplyWith("called-off-early");
  const jobId = await add("hold", {}, { jobId: "called-off-early" });
  const release = await held;
  await callOffQuietly(jobId);
  await sayCalledOff(jobId);
  // The messages keep their order: when this one has arrived, so has the one before.
  await callOffQuietly(other);
  await sayCalledOff(other);
  await expect.poll(() => running.has(other)).toBe(false);
  release();
  expect((await ended(jobId)).failedReason).toBe(cancelledReason);
});

test("a message of a job that was replayed before it came here ends nothing", async () => {
  const running = await holdBehindNetwork();
  await sayCalledOff("replayed");
  const other = await add("hold", {});
  await expect.poll(() => running.has(other)).toBe(true);
  await callOffQuietly(other);
  await sayCalledOff(other);
  await ended(other);
  const jobId = await add("hold", {}, { jobId: "replayed" });
  await expect.poll(() => running.has(jobId)).toBe(true);
  const next = await add("hold", {});
  await expect.poll(() => running.has(next)).toBe(true);
  expect(running.has(jobId)).toBe(true);
  for (const id of [jobId, next]) {
    await callOffQuietly(id);
    await sayCalledOff(id);
  }
  expect((await ended(jobId)).failedReason).toBe(cancelledReason);
});

test("a job that was called off while the worker could not hear it ends once it can", async () => {
  const running = await holdBehindNetwork();
  const jobId = await add("hold", {});
  await expect.poll(() => running.has(jobId)).toBe(true);
  await callOffQuietly(jobId);
  const broken = network.dropReplyWith("a message nobody hears");
  await sayCalledOff("a message nobody hears");
  await broken;
  expect((await ended(jobId)).failedReason).toBe(cancelledReason);
});
