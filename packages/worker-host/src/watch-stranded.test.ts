import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type Network, startNetwork } from "../test/network.ts";
import { useQueue } from "../test/use-queue.ts";
import { PermanentError } from "./job-error.ts";

const contract = defineQueue("default", {
  complete: { data: z.object({}) },
  fail: { data: z.object({}) },
  retry: { data: z.object({}) },
});
const { work, add, ended, stored } = useQueue(contract);
let network: Network;

beforeAll(async () => {
  network = await startNetwork(getRedisConnection("worker"));
});
afterAll(() => network.close());

/** A worker behind the network, that runs one job at a time. It says which it started. Its locks hold for 30 s. */
async function workBehindNetwork(): Promise<string[]> {
  const starts: string[] = [];
  await work(
    {
      complete: async (_, { jobId }) => {
        starts.push(jobId);
      },
      fail: async (_, { jobId }) => {
        starts.push(jobId);
        throw new PermanentError("no");
      },
      retry: async (_, { jobId, attempt }) => {
        starts.push(jobId);
        if (attempt === 1) throw new Error("not yet");
      },
    },
    { connection: { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port }, concurrency: 1 },
  );
  return starts;
}

test("a job whose fetch was carried out but not answered runs at once, as does the one that the next fetch brought, and no death is counted", async () => {
  const jobIds = [await add("complete", {}, { jobId: "fetched-alone" }), await add("complete", {}, { jobId: "next" })];
  const dropped = network.dropReplyWith("fetched-alone");
  const starts = await workBehindNetwork();
  await dropped;
  const jobs = await Promise.all(jobIds.map(ended));
  expect(await Promise.all(jobs.map((job) => job.getState()))).toEqual(["completed", "completed"]);
  expect([starts.toSorted(), jobs.map(({ stalledCounter }) => stalledCounter)]).toEqual([jobIds, [0, 0]]);
});

test.each([
  ["completion", "complete", "completed", 1],
  ["failure", "fail", "failed", 1],
  ["retry", "retry", "completed", 2],
] as const)(
  "a job that came with the unanswered %s of another runs at once, and neither is lost",
  async (_, action, state, runs) => {
    const first = await add(action, {});
    const second = await add("complete", {}, { jobId: `fetched-with-${action}` });
    const dropped = network.dropReplyWith(second);
    const starts = await workBehindNetwork();
    await dropped;
    expect(await (await ended(second)).getState()).toBe("completed");
    expect(await (await ended(first)).getState()).toBe(state);
    expect([
      starts.filter((jobId) => jobId === first).length,
      starts.filter((jobId) => jobId === second).length,
    ]).toEqual([runs, 1]);
    expect([(await stored(first)).stalledCounter, (await stored(second)).stalledCounter]).toEqual([0, 0]);
  },
);
