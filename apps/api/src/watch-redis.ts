import { createRedis, readRedisEnv } from "@millrace/redis";
import { askQueue, contracts } from "@millrace/worker-config";

/** Resolves when Redis has answered over the connection that all requests of this process share. */
export async function pingRedis(): Promise<void> {
  await askQueue(contracts.default, async (queue) => {
    const client = await queue.getBackend().client;
    await client.runCommand("ping", []);
  });
}

const lookEveryMs = 15_000;
const looksUntilWedged = 4;
const newConnectionMs = 3_000;

/**
 * Watches that connection. It is wedged when it had no answer at four looks in a row, while Redis answered one that was made for the question: what a
 * connection does whose other end has gone without a word. An outage of Redis is none: that is readiness, and a new process would change nothing.
 *
 * @param everyMs how often to look. Defaults to 15 seconds
 */
export function watchRedis(everyMs: number = lookEveryMs): { isWedged(): boolean; close(): void } {
  let unanswered = 0;
  const look = async () => {
    const isRight = (await isDone(pingRedis())) || !(await isDone(pingAnew()));
    unanswered = isRight ? 0 : unanswered + 1;
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return { isWedged: () => unanswered >= looksUntilWedged, close: () => clearInterval(timer) };
}

async function pingAnew(): Promise<void> {
  const redis = createRedis("worker", readRedisEnv().REDIS_URL, () => {});
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("late")), newConnectionMs);
  try {
    await Promise.race([redis.ping(), late]);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}

function isDone(promise: Promise<void>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
