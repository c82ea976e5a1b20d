import { type DevRedis, startRedis } from "@millrace/dev-services";
import { afterEach, expect } from "vitest";
import { closeQueues, emailQueue, QueueUnavailableError } from "../src/index.ts";

const started: DevRedis[] = [];

/** A Redis that a test may freeze and kill, and that the queues use from now on. Goes with the test. */
export async function ownRedis(port?: number): Promise<DevRedis & { pid: number; port: number }> {
  const redis = await startRedis(port === undefined ? {} : { port });
  if (redis.pid === undefined) throw new Error("expected a Redis of our own, got a configured one");
  started.push(redis);
  process.env.REDIS_URL = redis.url;
  return { ...redis, pid: redis.pid, port: Number(new URL(redis.url).port) };
}

/** Takes the Redis away as a power cut would, and waits until the queues' connection knows. */
export async function kill(redis: DevRedis & { pid: number }): Promise<void> {
  const client = await emailQueue.getBackend().client;
  const lost = new Promise((resolve) => client.once("close", resolve));
  process.kill(redis.pid, "SIGKILL");
  await Promise.all([redis.exited, lost]);
}

/** Must be called once in a file that uses `ownRedis`. */
export function cleanUpRedis(): void {
  afterEach(async () => {
    await closeQueues();
    await Promise.all(started.splice(0).map((redis) => redis.stop()));
  });
}

/** How a call failed and how long that took. Fails when it did not, or not with QueueUnavailableError. */
export async function outageOf(call: Promise<unknown>): Promise<{ error: QueueUnavailableError; tookMs: number }> {
  const startedAt = performance.now();
  const error: unknown = await call.then(
    () => expect.fail("expected QueueUnavailableError, the call succeeded"),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(QueueUnavailableError);
  // Asserted in the line above; the compiler does not follow it.
  return { error: error as QueueUnavailableError, tookMs: performance.now() - startedAt };
}
