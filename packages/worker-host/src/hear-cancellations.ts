import { type RedisConnectionOptions, subscribe } from "@millrace/redis";
import { cancelChannel } from "@millrace/worker-config/contracts";
import type { Worker } from "bullmq";
import type { RunningAttempts } from "./running-attempts.ts";

export interface HeardCancellations {
  readonly ready: Promise<void>;
  /** To be told of each attempt that began. */
  onBegin(jobId: string): void;
  close(): void;
}

/** Messages about jobs that run elsewhere, or only wait, are the most of them. */
const keptMessages = 1_000;

/**
 * Ends the attempts of jobs that are called off. Whoever calls one off writes it into the job's record and says so on a channel. The message
 * can come before the reply that brings the job here, over another connection, and it is lost while Redis is away: in both cases the record
 * is asked.
 */
export function hearCancellations(
  worker: Worker<unknown, unknown, string>,
  prefix: string,
  connection: RedisConnectionOptions,
  attempts: RunningAttempts,
): HeardCancellations {
  const early = new Set<string>();

  const onMessage = (jobId: string) => {
    if (attempts.has(jobId)) return attempts.abort(jobId, "cancelled");
    early.add(jobId);
    for (const oldest of early) {
      if (early.size <= keptMessages) break;
      early.delete(oldest);
    }
  };
  // Not the message alone: a job that was called off and replayed is to run.
  const ask = async (jobId: string) => {
    const client = await worker.getBackend().client;
    if (await client.runCommand("hexists", [worker.toKey(jobId), "defa"])) attempts.abort(jobId, "cancelled");
  };
  const askQuietly = (jobId: string) => void ask(jobId).catch(() => {});
  const onListening = () => {
    for (const jobId of attempts.jobIds()) askQuietly(jobId);
  };
  const subscription = subscribe(connection, cancelChannel(prefix, worker.name), onMessage, onListening);
  return {
    ready: subscription.ready,
    onBegin: (jobId) => {
      if (early.delete(jobId)) askQuietly(jobId);
    },
    close: subscription.close,
  };
}
