import type { Logger } from "@millrace/logger";
import { type RedisConnectionOptions, subscribe } from "@millrace/redis";
import { cancelChannel, cancelledReason, type QueueName } from "@millrace/worker-config/contracts";
import type { RunningAttempts } from "./running-attempts.ts";
import type { ScreenedWorker } from "./screened-worker.ts";

/** Ends attempts whose job was called off, in whatever process. */
export interface CancellationWatch {
  readonly ready: Promise<void>;
  /** Whether a message for a job came while it was on its way from Redis. To be asked once per start. */
  heardEarly(jobId: string): boolean;
  /** Whether a job's record says that it was called off: a message may have meant an earlier start. */
  isCalledOff(jobId: string): Promise<boolean>;
  close(): void;
}

/** Longer than a fetched job is on its way to its attempt. */
const earlyForMs = 10_000;

/**
 * A cancellation writes its reason on the job's record, which every later start finds, and publishes the id for the start that runs. Two
 * starts hear no message: one that is still on its way here, and one that runs while the connection is lost or not there yet. The record is asked for
 * them.
 */
export function watchCancellations(
  worker: ScreenedWorker,
  attempts: RunningAttempts,
  connection: RedisConnectionOptions,
  { prefix, queue, log }: { readonly prefix: string; readonly queue: QueueName; readonly log: Logger },
): CancellationWatch {
  // Messages for jobs that do not run here, by the time at which they came.
  const early = new Map<string, number>();

  async function isCalledOff(jobId: string): Promise<boolean> {
    const client = await worker.getBackend().client;
    return (await client.runCommand("hget", [worker.toKey(jobId), "defa"]).catch(() => null)) === cancelledReason;
  }

  function onMessage(jobId: string): void {
    if (attempts.abort(jobId, "cancelled")) return;
    const now = performance.now();
    for (const [known, cameAt] of early) {
      if (now - cameAt < earlyForMs) break;
      early.delete(known);
    }
    early.set(jobId, now);
  }

  async function askForAll(): Promise<void> {
    for (const jobId of attempts.jobIds()) if (await isCalledOff(jobId)) attempts.abort(jobId, "cancelled");
  }

  const onSubscribed = () => {
    // Without the connection there is a next time.
    askForAll().catch(() => {});
  };
  const onRefused = (err: Error) =>
    log.warn(
      { code: "cancellations_unheard", queue, err },
      "Redis does not let this user SUBSCRIBE: a job that runs hears of no cancellation; it is only not started again. Grant +subscribe and the channels of QUEUE_PREFIX",
    );
  const subscription = subscribe(connection, cancelChannel(prefix, queue), onMessage, onSubscribed, onRefused);
  return {
    ready: subscription.ready,
    heardEarly: (jobId) => early.delete(jobId),
    isCalledOff,
    close: subscription.close,
  };
}
