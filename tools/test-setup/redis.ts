import { readDevServicesEnv, startRedis } from "@millrace/dev-services";

/** One Redis for the whole run, chosen as development chooses it. */
export default async function setup(): Promise<() => Promise<void>> {
  const { REDIS_URL, DEV_REDIS } = readDevServicesEnv();
  const redis = await startRedis({ redisUrl: REDIS_URL, choice: DEV_REDIS });
  process.stdout.write(`Redis for the tests: ${redis.reason}\n`);
  process.env.REDIS_URL = redis.url;
  return redis.stop;
}
