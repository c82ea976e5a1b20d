import { defineQueue } from "@millrace/worker-config/contracts";
import { z } from "zod";

const timeout = 10_000;
// A deploy gives jobs less time than their timeout here, so that hand-backs happen.
const interruptible = true;

/** What the soak runs: one action per way in which a job may go through life. */
export const chaosContract = defineQueue("default", {
  /** Has its effect and ends. */
  plain: { data: z.object({}), timeout, interruptible },
  /** Fails that often before it has its effect. */
  flaky: { data: z.object({ failures: z.int() }), timeout, interruptible },
  /** Can never succeed. */
  refused: { data: z.object({}), timeout, interruptible },
  /** Is asked for patience by the provider the first time. */
  throttled: { data: z.object({}), timeout, interruptible },
  /** Several jobs share a payment, which must be taken once. */
  charge: {
    data: z.object({ payment: z.string() }),
    result: z.object({ receipt: z.string() }),
    idempotencyKey: ({ payment }) => payment,
    timeout,
    interruptible,
  },
  /** Has its effect after a time that a kill is likely to fall into. */
  slow: { data: z.object({ takesMs: z.int() }), timeout, interruptible },
});
