import { setTimeout as wait } from "node:timers/promises";
import { type Acquisition, answerPatienceMs, type Lease } from "./acquire-lease.ts";

/**
 * Runs `run` while the lease is extended, at a third of its length, and releases it afterwards. It settles when `run` settles, so that
 * nothing of `run` goes on behind the caller's back.
 *
 * The lease is lost when an extension finds that it is another's, or when none was confirmed in time; the time is this process's
 * monotonic clock, counted from before each question, so that Redis never ends the lease earlier than this process does. Then the signal
 * aborts with the lease's `lost` error, and that error is the outcome, whatever `run` returns or throws.
 *
 * @param callerSignal aborts the signal too. The lease is held on until `run` settles, and what it returns or throws counts.
 * @throws what `run` threw, unchanged, or the lease's `lost` error. That the release failed is no error: the lease ends by itself.
 */
export async function holdLease<T>(
  lease: Lease<unknown>,
  { acquiredAt }: Acquisition<unknown>,
  callerSignal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onCallerAbort = () => controller.abort(callerSignal?.reason);
  callerSignal?.addEventListener("abort", onCallerAbort, { once: true });
  if (callerSignal?.aborted) onCallerAbort();
  const extending = keepExtending(lease, acquiredAt, (error) => controller.abort(error));

  const [outcome] = await Promise.allSettled([(async () => run(controller.signal))()]);

  const lost = extending.stop();
  callerSignal?.removeEventListener("abort", onCallerAbort);
  const released = lease.release().catch(() => {});
  if (lost) throw lost;
  await waitBriefly(released);
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

/** @returns ends the extending, and says whether the lease was lost by then */
function keepExtending(
  lease: Lease<unknown>,
  acquiredAt: number,
  onLost: (error: Error) => void,
): { stop(): Error | undefined } {
  let endsAt = acquiredAt + lease.leaseMs;
  let isOver = false;
  let lost: Error | undefined;

  const lose = (why: string) => {
    stopTimers();
    lost = lease.lost(why);
    onLost(lost);
  };
  const loseAtEnd = () => lose(`no extension of its ${lease.leaseMs} ms was confirmed in time`);
  const stopTimers = () => {
    isOver = true;
    clearTimeout(end);
    clearTimeout(next);
  };
  const extend = async () => {
    const askedAt = performance.now();
    // Redis away is no answer: it is asked again while the lease stands.
    const answer = await lease.extend().catch(() => undefined);
    if (isOver) return;
    if (answer === false) return lose("another took it, or it was deleted");
    if (answer) {
      endsAt = askedAt + lease.leaseMs;
      clearTimeout(end);
      end = setTimeout(loseAtEnd, endsAt - performance.now());
    }
    next = setTimeout(extend, lease.leaseMs / (answer ? 3 : 12));
  };
  let end = setTimeout(loseAtEnd, endsAt - performance.now());
  let next = setTimeout(extend, lease.leaseMs / 3);

  return {
    stop: () => {
      // A run that kept the event loop busy past the end let no timer say so.
      if (!isOver && performance.now() >= endsAt) loseAtEnd();
      stopTimers();
      return lost;
    },
  };
}

/** The answer decides nothing: a release that a broken connection repeated finds nothing left to release. */
async function waitBriefly(released: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  const over = wait(answerPatienceMs, undefined, { signal: patience.signal }).catch(() => {});
  await Promise.race([released, over]);
  patience.abort();
}
