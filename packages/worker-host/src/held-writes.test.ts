import { Duplex } from "node:stream";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";

const contract = defineQueue("default", {
  charge: { data: z.object({ order: z.number() }), idempotencyKey: ({ order }) => `order ${order}` },
  compute: { data: z.object({}) },
});
const { work, add, ended } = useQueue(contract);

test("where a handler has kept the process, the end of a job is on its way to Redis before the handler of another one begins", async () => {
  // A machine that others use as well makes short turns long: here they may take four times as long.
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() / 4);
  onTestFinished(() => clock.mockRestore());
  // Where sockets have it from.
  const cork = vi.spyOn(Duplex.prototype, "cork");
  onTestFinished(() => cork.mockRestore());
  const isHeld = () => cork.mock.contexts.some((stream) => stream instanceof Duplex && stream.writableCorked > 0);
  const held: boolean[] = [];
  const compute = async () => {
    held.push(isHeld());
    for (const until = performance.now() + 25; performance.now() < until; );
  };
  await work({ charge: async () => {}, compute }, { concurrency: 10 });
  let order = 0;
  const charge = async (count: number) => {
    const jobIds = await Promise.all(Array.from({ length: count }, () => add("charge", { order: order++ })));
    for (const jobId of jobIds) await ended(jobId);
  };
  // What it sends at once where every handler is short.
  while (cork.mock.calls.length === 0) await charge(50);
  await ended(await add("compute", {}));
  held.length = 0;
  cork.mockClear();
  // The answers to a claim and to a fetch that come together: the one that is charged at once ends before the one that was fetched begins.
  const computed = Array.from({ length: 10 }, () => add("compute", {}));
  await charge(40);
  for (const jobId of computed) await ended(await jobId);
  expect(held).toEqual(Array.from({ length: 10 }, () => false));
  expect(cork).not.toHaveBeenCalled();
});
