import { Duplex } from "node:stream";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";

const contract = defineQueue("default", {
  charge: { data: z.object({ order: z.number() }), idempotencyKey: ({ order }) => `order ${order}` },
  compute: { data: z.object({}) },
});
const { work, add, ended } = useQueue(contract);

test("the end of a job is on its way to Redis before the handler of another one, which may keep or end the process, begins", async () => {
  // Where sockets have it from.
  const cork = vi.spyOn(Duplex.prototype, "cork");
  const jobIds: string[] = [];
  // The answers to a claim and to a fetch that come together: the one that is charged at once ends before the one that was fetched begins.
  for (let order = 0; order < 40; order++) {
    jobIds.push(await add("charge", { order }));
    if (order % 4 === 0) jobIds.push(await add("compute", {}));
  }
  const held: boolean[] = [];
  await work(
    {
      charge: async () => {},
      compute: async () =>
        void held.push(cork.mock.contexts.some((stream) => stream instanceof Duplex && stream.writableCorked > 0)),
    },
    { concurrency: 10 },
  );
  for (const jobId of jobIds) await ended(jobId);
  const corked = cork.mock.calls.length;
  cork.mockRestore();
  expect(corked).toBeGreaterThan(0);
  expect(held).toEqual(Array.from({ length: 10 }, () => false));
});
