import type { RunningAttempts } from "./running-attempts.ts";
import type { ScreenedWorker } from "./screened-worker.ts";

/**
 * Ends attempts whose job this worker no longer holds: another one may have it, and what this one still does for it would be done twice.
 *
 * Redis says so when a renewal finds the lock gone. Cut off from Redis a worker hears nothing, so an attempt whose lock nobody confirmed for
 * the lock's whole life is ended as well.
 */
export function watchLocks(
  worker: ScreenedWorker,
  attempts: RunningAttempts,
  lockDurationMs: number,
): { close(): void } {
  worker.on("lockRenewalFailed", (jobIds) => {
    for (const jobId of jobIds) attempts.abort(jobId, "lockLost");
  });
  worker.on("locksRenewed", ({ jobIds }) => attempts.confirm(jobIds, performance.now()));
  const timer = setInterval(() => {
    for (const jobId of attempts.unconfirmedSince(performance.now() - lockDurationMs)) {
      attempts.abort(jobId, "lockLost");
    }
  }, lockDurationMs / 4);
  // The jobs keep the process alive, not the look at them.
  timer.unref();
  return { close: () => clearInterval(timer) };
}
