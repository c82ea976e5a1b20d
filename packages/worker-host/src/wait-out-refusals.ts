import { setTimeout } from "node:timers/promises";
import type { ScreenedWorker } from "./screened-worker.ts";

/** What Redis refuses in this moment and will take later: it loads its data or is full, a failover or another's script is under way. */
const passing = /^(LOADING|BUSY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|READONLY|OOM|MISCONF|NOREPLICAS) /;
const againAfterMs = 500;

/**
 * Asks Redis until it no longer refuses for a reason that passes, as a worker waits for a Redis that is away. Each refusal is an error of the worker,
 * whose log repeats none at once.
 *
 * @throws what `ask` throws for any other reason, or when the worker is to end
 */
export async function waitOutRefusals(worker: ScreenedWorker, ask: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = error instanceof Error && error.name === "ReplyError" && passing.test(error.message);
      if (!isPassing || worker.closing) throw error;
      worker.emit("error", error);
      await setTimeout(againAfterMs);
    }
  }
}
