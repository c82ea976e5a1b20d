import { setTimeout } from "node:timers/promises";
import { settlesWithin } from "@millrace/shutdown";
import type { ScreenedWorker } from "./screened-worker.ts";

interface Stop {
  /** Whether the connections look well. */
  areReady(): boolean;
  readonly graceMs: number;
  /** Ends the attempts that run, which hands their jobs back. */
  interrupt(): void;
}

const pingWithinMs = 1_000;
const idleForMs = 1_000;
const afterAbortMs = 5_000;

/**
 * Takes no more jobs and waits for those in hand. A job whose handler has returned is one until Redis knows of it: left alone, it would run
 * again. Where no job is in hand and Redis does not answer there is nothing to wait for, and BullMQ would wait for Redis.
 *
 * @returns whether everything came to its end within the grace
 */
export async function stopWorker(worker: ScreenedWorker, { areReady, graceMs, interrupt }: Stop): Promise<boolean> {
  const isAlone = worker.jobsInHand === 0 && !(areReady() && (await answers(worker)));
  if (isAlone && worker.jobsInHand === 0) {
    worker.close(true).catch(() => {});
    return true;
  }
  const drained = new AbortController();
  // BullMQ waits for ever for the end of a connection that was lost already, even when the last job is long recorded.
  const over = Promise.race([worker.close(), untilIdle(worker, drained.signal).then(() => worker.letGo())]);
  const isInTime = await settlesWithin(over, graceMs);
  if (!isInTime) {
    interrupt();
    await settlesWithin(over, afterAbortMs);
  }
  drained.abort();
  return isInTime;
}

/** Asked because a connection may look well on which nothing comes any more. */
export function answers(worker: ScreenedWorker): Promise<boolean> {
  const pinged = worker.getBackend().client.then((client) => client.runCommand("ping", []));
  return settlesWithin(pinged, pingWithinMs).catch(() => false);
}

/** Resolves when no job has been in hand for a while: longer than one that was fetched is on its way here. */
async function untilIdle(worker: ScreenedWorker, signal: AbortSignal): Promise<void> {
  let idleSince = performance.now();
  while (performance.now() - idleSince < idleForMs) {
    await setTimeout(50, undefined, { signal });
    if (worker.jobsInHand > 0) idleSince = performance.now();
  }
}
