// What must not compile: `tsc` reports an error that was expected and does not come.
import { defineQueue } from "@millrace/worker-config/contracts";
import { z } from "zod";
import type { HandlersOf } from "./job-handlers.ts";

const contract = defineQueue("heavy", {
  count: { data: z.object({ text: z.string() }), result: z.object({ total: z.number() }) },
  forget: { data: z.object({ id: z.string() }) },
});

export const complete: HandlersOf<typeof contract> = {
  count: async (data, context) => {
    context.signal.throwIfAborted();
    return { total: data.text.length };
  },
  forget: async () => {},
};
// @ts-expect-error a handler is missing
export const missing: HandlersOf<typeof contract> = { count: complete.count };
// @ts-expect-error no such action
export const unknown: HandlersOf<typeof contract> = { ...complete, recount: async () => {} };
export const wrong: HandlersOf<typeof contract> = {
  ...complete,
  // @ts-expect-error the result has another form
  count: async () => ({ sum: 1 }),
};
export const misread: HandlersOf<typeof contract> = {
  ...complete,
  // @ts-expect-error the data has no such field
  forget: async (data) => void data.text,
};
