import { Queue } from "bullmq";
import type { JobData, QueueContract } from "../contracts/define-queue.ts";
import { readQueueEnv } from "../env.ts";
import { defaultJobOptions, defaultStreamOptions } from "../jobs/default-options.ts";
import { fakeQueue } from "./fake-queue.ts";
import { closeProducerConnection, producerConnection } from "./producer-connection.ts";
import { ProducerQueue } from "./producer-queue.ts";
import type { TypedQueue } from "./typed-queue.ts";

// An HTTP request waits for this: the caller's answer must come within two seconds.
const deadlineMs = 1_500;

const opened = new Map<QueueContract, ProducerQueue>();

/** The process's one queue object for a contract. Made, and connected, on first use. */
export function openQueue(contract: QueueContract): ProducerQueue {
  const known = opened.get(contract);
  if (known) return known;
  const env = readQueueEnv();
  // What a build may do with a queue is nothing, and the stand-in does just that under any name.
  if (env.NEXT_PHASE === "phase-production-build") return fakeQueue as ProducerQueue;
  const { redis, clock } = producerConnection();
  const queue = new ProducerQueue(
    contract,
    clock,
    { maxPayloadBytes: env.QUEUE_MAX_PAYLOAD_BYTES, deadlineMs },
    { connection: redis, prefix: env.QUEUE_PREFIX, defaultJobOptions, streams: defaultStreamOptions },
  );
  opened.set(contract, queue);
  // BullMQ asks for the server's version once, and where that breaks off the queue fails for ever: the next use makes another.
  queue.waitUntilReady().catch(() => {
    if (opened.get(contract) === queue) opened.delete(contract);
    return queue.close().catch(() => {});
  });
  return queue;
}

/**
 * Reads from a contract's queue, within the deadline that producers have.
 *
 * @throws QueueUnavailableError
 */
export async function askQueue<T>(contract: QueueContract, question: (queue: Queue) => Promise<T>): Promise<T> {
  const queue = openQueue(contract);
  return queue.ask(() => question(queue));
}

/**
 * The contract's queue, typed, and not opened before its first use: BullMQ connects in its constructor, and an import must open
 * nothing. Looking at its name or type, or awaiting it, is not a use.
 */
export function queueOf<Contract extends QueueContract>(contract: Contract): TypedQueue<JobData<Contract>> {
  const lazy = new Proxy<object>(Object.create(Queue.prototype), {
    get: (_, key) => {
      if (key === "name") return contract.name;
      if (key === "then" || typeof key === "symbol") return undefined;
      if (key === "close" && !opened.has(contract)) return async () => {};
      const queue = openQueue(contract);
      const value: unknown = Reflect.get(queue, key, queue);
      return typeof value === "function" ? value.bind(queue) : value;
    },
    set: (_, key, value) => Reflect.set(openQueue(contract), key, value),
    has: (_, key) => key in openQueue(contract),
  });
  // The same object at run time; the contract's types are narrower than the envelope it handles.
  return lazy as TypedQueue<JobData<Contract>>;
}

/**
 * Closes every queue that this process opened and their connection, so that the process can end. Nothing opened: nothing done. A
 * queue used afterwards opens again.
 */
export async function closeQueues(): Promise<void> {
  const closing = [...opened.values()];
  opened.clear();
  // The connection goes first: a queue that still waits for Redis then stops waiting, instead of holding the close.
  await closeProducerConnection();
  await Promise.allSettled(closing.map((queue) => queue.close()));
}
