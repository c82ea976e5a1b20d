export { type AnsweredRequest, createHttpMetrics, type HttpMetrics } from "./http-metrics.ts";
export { createJobMetrics, type JobMetrics, type SettledStart } from "./job-metrics.ts";
export { createQueueMetrics, type QueueFigures } from "./queue-metrics.ts";
export { createRedisMetrics, type RedisMemory } from "./redis-metrics.ts";
export { createRegistry, type Registry } from "./registry.ts";
export { createScheduleMetrics, type RunOutcome, type ScheduleMetrics } from "./schedule-metrics.ts";
export { createWorkerMetrics, type LockWait, type WorkerMetrics, type WorkerState } from "./worker-metrics.ts";
