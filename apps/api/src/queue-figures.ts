import type { QueueFigures } from "@millrace/metrics";
import { askQueue, contracts, type QueueContract } from "@millrace/worker-config";
import type { Queue } from "bullmq";

/**
 * How each queue stands, at a cost that does not grow with what it holds.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export function readQueueFigures(): Promise<QueueFigures[]> {
  return Promise.all(Object.values<QueueContract>(contracts).map((contract) => askQueue(contract, figuresOf)));
}

async function figuresOf(queue: Queue): Promise<QueueFigures> {
  const [counts, isPaused, oldestWaitingSeconds] = await Promise.all([
    queue.getJobCounts("waiting", "prioritized", "active", "delayed", "waiting-children", "failed"),
    queue.isPaused(),
    readOldest(queue),
  ]);
  const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed: deadLetters = 0 } = counts;
  const depth = { waiting, prioritized, active, delayed, waiting_children: counts["waiting-children"] ?? 0 };
  return { queue: queue.name, depth, deadLetters, isPaused, oldestWaitingSeconds };
}

const looked = 10;

/** Of the jobs next in line, the first that has not begun: one that is tried again does not say since when it waits. */
async function readOldest(queue: Queue): Promise<number> {
  const client = await queue.getBackend().client;
  const ask = async (command: string, ...args: (string | number)[]) => {
    const reply: unknown = await client.runCommand(command, args);
    return Array.isArray(reply) ? reply.map((each) => (each === null ? undefined : String(each))) : [];
  };
  const inLine = await ask("lrange", queue.toKey("wait"), -looked, -1);
  const firstPrioritized = await ask("zrange", queue.toKey("prioritized"), 0, 0);
  const jobs = await Promise.all(
    [...inLine.reverse(), ...firstPrioritized].map((id) =>
      ask("hmget", queue.toKey(id ?? ""), "timestamp", "delay", "ats"),
    ),
  );
  const since = jobs
    .filter(([timestamp, , starts]) => timestamp !== undefined && starts === undefined)
    .map(([timestamp, delay]) => Number(timestamp) + Number(delay ?? 0));
  return since.length === 0 ? 0 : Math.max(0, Date.now() - Math.min(...since)) / 1_000;
}
