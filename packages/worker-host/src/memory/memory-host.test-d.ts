// What must not compile: `tsc` reports an error that was expected and does not come.
import { type Enqueued, enqueue } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { hosted, type MemoryHost } from "./index.ts";

const contract = defineQueue("heavy", {
  count: {
    data: z.object({ text: z.string(), limit: z.number().optional() }),
    result: z.object({ total: z.number() }),
  },
  forget: { data: z.object({ id: z.string() }) },
});

hosted(contract, { count: async ({ text }) => ({ total: text.length }), forget: async () => {} });
// @ts-expect-error a handler is missing
hosted(contract, { count: async () => ({ total: 1 }) });
// @ts-expect-error the result has another form
hosted(contract, { count: async () => ({ sum: 1 }), forget: async () => {} });

export function use(memory: MemoryHost): Promise<Enqueued> {
  // The same function as the one that enqueues in Redis, for whoever takes it as an argument.
  let either: typeof enqueue = memory.enqueue;
  either = enqueue;
  // @ts-expect-error no such action
  void memory.enqueue(contract, "recount", { text: "a" });
  // @ts-expect-error data of another action
  void memory.enqueue(contract, "count", { id: "a" });
  // @ts-expect-error no such option
  void memory.enqueue(contract, "count", { text: "a" }, { delay: 5 });
  memory.assertEnqueued(contract, "count", { text: "a" }, { times: 2 });
  memory.assertEnqueued(contract, "count", ({ text, limit = 0 }) => text.length > limit);
  // @ts-expect-error no such field
  memory.assertEnqueued(contract, "count", { id: "a" });
  // @ts-expect-error another type
  memory.assertEnqueued(contract, "count", { text: 5 });
  return either(contract, "forget", { id: "a" });
}
