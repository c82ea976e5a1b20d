/** A program that takes a lock or a semaphore's place, says so, and holds it until it is killed. */
import { createDistributedLock, createRedis, createSemaphore } from "@millrace/redis";

const [what = "", url = "", prefix = "", name = "", leaseMs = ""] = process.argv.slice(2);
const redis = createRedis("worker", url, (error) => process.stderr.write(`${error.message}\n`));
const hold = async (): Promise<never> => {
  process.stdout.write("held\n");
  return new Promise(() => {});
};

if (what === "lock") {
  const lock = createDistributedLock({ redis, prefix });
  await lock.runExclusive({ key: name, timeoutInSeconds: Number(leaseMs) / 1_000, fn: hold });
} else {
  await createSemaphore({ redis, prefix, name, places: 1, leaseMs: Number(leaseMs) }).withPlace(hold);
}
