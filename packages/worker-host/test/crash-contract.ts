import { defineQueue } from "@millrace/worker-config/contracts";
import { z } from "zod";

/** What the tests that kill processes run. */
export const crashContract = defineQueue("default", {
  /** Runs until its process dies. */
  hold: { data: z.object({}) },
  /** Kills the process that runs it. */
  die: { data: z.object({}) },
  /** Holds the event loop of the process `blocked` for longer than a lock lives, and then has its effect. */
  spin: {
    data: z.object({ order: z.string() }),
    result: z.object({ by: z.string() }),
    idempotencyKey: ({ order }) => order,
  },
});
