import { findJob } from "@millrace/job-admin";
import { createJobEventFeed, type JobEventFeed } from "@millrace/job-events";
import type { Logger } from "@millrace/logger";
import { createRedis, readRedisEnv } from "@millrace/redis";
import { readQueueEnv } from "@millrace/worker-config";

/** What followers and waiters of this process share: one connection to Redis, while there are any. */
export function openJobFeed(log: Logger): JobEventFeed {
  const { REDIS_URL } = readRedisEnv();
  const onOutage = (err: Error) => log.warn({ code: "feed_unreachable", err }, "cannot hear of jobs, trying again");
  const onRefused = (err: Error) =>
    log.warn(
      { code: "feed_refused", err },
      "Redis lets this user read no streams: followers of jobs wait for the poll",
    );
  return createJobEventFeed({
    connect: () => createRedis("events", REDIS_URL, onOutage),
    prefix: readQueueEnv().QUEUE_PREFIX,
    findJob,
    onRefused,
  });
}
