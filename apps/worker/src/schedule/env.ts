import { readDatabaseEnv } from "@millrace/database";
import { type Environment, parseEnv, readTogether } from "@millrace/env";
import { readFileStoreSettings } from "@millrace/file-store";
import { scheduleContract } from "@millrace/worker-config/contracts";
import { workerConcurrency, workerReaders } from "@millrace/worker-host";
import { z } from "zod";

const days = (fallback: number, atLeast = 0) => z.coerce.number().int().min(atLeast).max(3_650).default(fallback);

export const scheduleEnvSchema = z.object({
  SCHEDULE_WORKER_CONCURRENCY: workerConcurrency,
  DEAD_LETTER_MAX_AGE_DAYS: days(30),
  // Longer than a delivery is tried, which takes three days: until then the database alone remembers what was delivered already.
  WEBHOOK_DELIVERY_MAX_AGE_DAYS: days(30, 4),
  // A child that has just failed may yet be replayed.
  WAITING_PARENT_MAX_AGE_DAYS: days(30, 1),
  // Until then the deletion may be taken back.
  WORKSPACE_CLEAN_UP_AFTER_DAYS: days(7),
  // No enqueue may wait for more than 365 days: by then no job of the workspace can be left.
  WORKSPACE_FORGET_AFTER_DAYS: days(400, 366),
});

export type ScheduleEnv = z.output<typeof scheduleEnvSchema>;

export function readScheduleEnv(source?: Environment): ScheduleEnv {
  return parseEnv(scheduleEnvSchema, source);
}

/** Everything that this program reads. */
export function readSettings(source?: Environment) {
  const readers = { schedule: readScheduleEnv, database: readDatabaseEnv, files: readFileStoreSettings };
  return readTogether({ ...readers, ...workerReaders(scheduleContract) }, source);
}
