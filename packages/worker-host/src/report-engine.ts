import type { Logger } from "@millrace/logger";
import { parseJobFailure } from "@millrace/worker-config/contracts";
import type { Worker } from "bullmq";
import { type JobObserver, tellObservers } from "./job-observer.ts";
import type { WatchedClients } from "./watch-clients.ts";

/** Logs what BullMQ decides by itself, and tells observers. What the host decides is told where it is decided. */
export function reportEngine(
  worker: Worker<unknown, unknown, string>,
  clients: WatchedClients,
  log: Logger,
  observers: readonly JobObserver[] = [],
): void {
  const isNews = createRepeatFilter();
  worker.on("error", (err) => {
    // Without Redis every attempt to connect is an error; the outage itself is told once.
    if (!clients.areReady() || isConnectionError(err)) clients.reportLoss(err);
    else if (isNews(err.message)) log.error({ err }, "worker error");
  });
  worker.on("stalled", (jobId) => {
    log.warn({ queue: worker.name, jobId }, "job stalled and starts again");
    for (const observer of observers) observer.stalled?.();
  });
  worker.on("failed", (job, error) => {
    const { code, message } = parseJobFailure(error.message);
    const identity = { queue: worker.name, action: job?.name, jobId: job?.id, attempt: job?.attemptsMade };
    const tell = (outcome: "failed" | "cancelled") => {
      const { name: action = "", id: jobId = "", attemptsMade: attempt = 0 } = job ?? {};
      const start = { queue: worker.name, action, jobId, attempt, outcome, code, waitMs: null, durationMs: null };
      tellObservers(observers, start, log);
    };
    // What was settled before the job ran never reached a handler: cancelled while it waited, or a child of its flow failed.
    if (code === "poison" || (job?.deferredFailure && code !== "cancelled")) {
      log.error({ ...identity, outcome: "failed", code }, message);
      tell("failed");
    } else if (job?.deferredFailure) {
      log.info({ ...identity, outcome: "cancelled", code }, message);
      tell("cancelled");
    }
  });
}

const repeatsForMs = 10_000;

/** A Redis that is full refuses thousands of commands in a second, all in the same words but for the job: every ten seconds they are news. */
function createRepeatFilter(): (message: string) => boolean {
  let last = { words: "", atMs: Number.NEGATIVE_INFINITY };
  return (message) => {
    const words = message.replace(/\bjob \S+/, "job");
    const now = performance.now();
    if (words === last.words && now - last.atMs < repeatsForMs) return false;
    last = { words, atMs: now };
    return true;
  };
}

/** An error of the socket comes before the client knows that its connection is gone. */
function isConnectionError(err: Error): boolean {
  return "syscall" in err || /^Connection is closed|^Command aborted/.test(err.message);
}
