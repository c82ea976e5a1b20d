export type { ExpectedData } from "./assert-enqueued.ts";
export { type HostedQueue, hosted } from "./hosted-queue.ts";
export { type MemoryHost, type MemoryHostSettings, MemoryHostStoppedError } from "./memory-host.ts";
export type { MemoryCancellation, MemoryReplay } from "./memory-queue.ts";
export { startMemoryHost } from "./start-memory-host.ts";
