import { setTimeout as wait } from "node:timers/promises";
import { type LockWait, tellLockWait } from "./lock-waits.ts";

/** A claim on something in Redis that ends by itself unless its holder extends it. Each operation is one command. */
export interface Lease<Grant> {
  /** For messages, as in `lock "nightly-digest"`. */
  readonly title: string;
  readonly kind: LockWait["kind"];
  /** How long the claim stands after Redis granted or extended it, in milliseconds. */
  readonly leaseMs: number;
  /** `undefined` while others hold it. Asking again as the same holder is granted: a broken connection may repeat the command. */
  acquire(): Promise<Grant | undefined>;
  /** `false` when the claim is another's, or nobody's, by now. */
  extend(): Promise<boolean>;
  /** Touches no claim but this one. */
  release(): Promise<unknown>;
  contended(waitedMs: number): Error;
  lost(why: string): Error;
}

export interface Acquisition<Grant> {
  readonly grant: Grant;
  /** `performance.now()` from before Redis was asked: the claim stands for at least `leaseMs` from here. */
  readonly acquiredAt: number;
}

export interface Patience {
  /** How long to wait for others to let go, in milliseconds. */
  readonly acquireTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** How long an answer of Redis is waited for where nothing else says so. */
export const answerPatienceMs = 2_000;

// Soon after a release, at little cost, and never in step with the other waiters.
const pollAfterMs = () => 50 + Math.random() * 200;

/**
 * Asks for the lease until it is granted or the patience is over. Nobody waits in line: among those who wait, chance decides.
 *
 * @throws the lease's `contended` error, the signal's reason, what the Redis client throws, or an Error when Redis does not answer while
 *   there is patience: at least two seconds, and never longer than the lease
 */
export async function acquireLease<Grant>(
  lease: Lease<Grant>,
  { acquireTimeoutMs, signal }: Patience,
): Promise<Acquisition<Grant>> {
  signal?.throwIfAborted();
  const startedAt = performance.now();
  const giveUpAt = startedAt + acquireTimeoutMs;
  const tell = (outcome: LockWait["outcome"]) =>
    tellLockWait({ kind: lease.kind, outcome, waitedMs: performance.now() - startedAt });
  for (;;) {
    const acquiredAt = performance.now();
    // What is granted after the lease's length is over already.
    const patienceMs = Math.min(Math.max(answerPatienceMs, giveUpAt - acquiredAt), lease.leaseMs);
    const grant = await ask(lease, patienceMs, signal);
    if (grant !== undefined) {
      tell("acquired");
      return { grant, acquiredAt };
    }
    const leftMs = giveUpAt - performance.now();
    if (leftMs <= 0) {
      tell("contended");
      throw lease.contended(acquireTimeoutMs);
    }
    await wait(Math.min(leftMs, pollAfterMs()), undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
  }
}

async function ask<Grant>(
  lease: Lease<Grant>,
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<Grant | undefined> {
  const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>();
  const onAbort = () => giveUp(signal?.reason);
  const timer = setTimeout(
    () =>
      giveUp(
        new Error(
          `${lease.title}: expected an answer of Redis within ${Math.round(patienceMs)} ms, got none. Nothing ran.`,
        ),
      ),
    patienceMs,
  );
  signal?.addEventListener("abort", onAbort, { once: true });
  const asked = lease.acquire();
  try {
    return await Promise.race([asked, givenUp]);
  } catch (error) {
    // It may be granted all the same, and nobody is there to use it.
    asked.then(lease.release, lease.release).catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
