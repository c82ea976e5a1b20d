import type { Logger } from "@millrace/logger";
import type { RedisClient, Worker } from "bullmq";

export interface WatchedClients {
  areReady(): boolean;
  /** Logs an outage of Redis, once until it is over. */
  reportLoss(err?: Error): void;
}

/** A worker holds two connections, one of which waits for jobs. BullMQ says `ready` only once, so readiness is the clients' own. */
export function watchClients(worker: Worker<unknown, unknown, string>, log: Logger): WatchedClients {
  const { client, blockingClient } = worker.getBackend();
  const known: { readonly status: string }[] = [];
  const areReady = () => known.length === 2 && known.every(({ status }) => status === "ready");
  let isLost = false;
  const reportLoss = (err?: Error) => {
    if (isLost || worker.closing) return;
    isLost = true;
    log.error({ code: "redis_unreachable", err }, "cannot reach Redis, trying again");
  };
  const onReady = () => {
    if (!isLost || !areReady()) return;
    isLost = false;
    log.info("reached Redis again");
  };
  const watch = async (pending: Promise<RedisClient> | undefined) => {
    const connected = await pending;
    if (!connected) return;
    known.push(connected);
    connected.on("close", () => reportLoss());
    connected.on("ready", onReady);
    onReady();
  };
  // A client that never came to life has reported through the worker's error event.
  for (const pending of [client, blockingClient]) watch(pending).catch(() => {});
  return { areReady, reportLoss };
}
