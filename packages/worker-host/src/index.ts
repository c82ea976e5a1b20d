export { causesOf } from "./classify-failure.ts";
export { concurrencyVariable, workerConcurrency } from "./env.ts";
export type { JobContext } from "./job-context.ts";
export {
  AmbiguousError,
  ContentionError,
  type FailureKind,
  PermanentError,
  RateLimitedError,
  SkippedError,
  TransientError,
} from "./job-error.ts";
export type { HandlersOf, JobHandler, JobHandlers } from "./job-handlers.ts";
export type { JobObserver, SettledStart } from "./job-observer.ts";
export { runWorker } from "./run-worker.ts";
export { type RunningWorker, startWorker, type WorkerSettings } from "./start-worker.ts";
export { workerReaders } from "./worker-env.ts";
export type { WorkerService } from "./worker-service.ts";
