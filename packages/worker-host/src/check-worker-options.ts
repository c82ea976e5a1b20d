import { StartError } from "@millrace/env";
import { defaultTimeoutMs, type QueueContract } from "@millrace/worker-config/contracts";

/** The times of a worker that must fit together. All in milliseconds. */
export interface WorkerTimes {
  readonly lockDurationMs: number;
  readonly stalledIntervalMs: number;
  readonly shutdownGraceMs: number;
}

/** A worker whose times do not fit together would lose time, or cut jobs short, without anybody noticing. */
export class WorkerOptionsError extends StartError {
  override readonly name = "WorkerOptionsError";
}

/**
 * Checks a worker's times against each other and against its contract, before it takes a job.
 *
 * @throws WorkerOptionsError with a sentence per fault
 */
export function checkWorkerOptions(contract: QueueContract, times: WorkerTimes): void {
  const faults = [...faultsOfLock(times), ...faultsOfTimeouts(contract, times.shutdownGraceMs)];
  if (faults.length > 0) throw new WorkerOptionsError(faults.join("\n"), { problems: faults });
}

function* faultsOfLock({ lockDurationMs, stalledIntervalMs }: WorkerTimes): Generator<string> {
  // A lock is renewed at half its life at the latest. Below a second a pause of the garbage collector or of the network already loses it.
  if (!(lockDurationMs >= 1_000 && lockDurationMs <= 10 * 60_000)) {
    yield `Expected a lock duration (WORKER_LOCK_DURATION_MS) from 1000 to 600000 ms, got ${lockDurationMs}: below, a short pause loses the job to another worker; above, nobody notices a dead worker for long.`;
  }
  if (!(stalledIntervalMs > 0 && stalledIntervalMs <= lockDurationMs)) {
    yield `Expected a stalled interval (WORKER_STALLED_INTERVAL_MS) of at most the lock duration (${lockDurationMs} ms), got ${stalledIntervalMs}: a dead worker's jobs are to run again within twice the lock duration.`;
  }
}

function* faultsOfTimeouts(contract: QueueContract, graceMs: number): Generator<string> {
  for (const [action, { timeout = defaultTimeoutMs, interruptible = false }] of Object.entries(contract.actions)) {
    if (!Number.isSafeInteger(timeout) || timeout <= 0 || timeout > 2 ** 31 - 1) {
      yield `Expected the timeout of ${contract.name}.${action} to be a positive whole number of milliseconds, got ${timeout}.`;
    } else if (timeout > graceMs && !interruptible) {
      yield `${contract.name}.${action} may run for ${timeout} ms, but a shutdown gives it ${graceMs} ms: raise WORKER_SHUTDOWN_GRACE_MS, lower the timeout, or declare the action interruptible if it may begin anew.`;
    }
  }
}
