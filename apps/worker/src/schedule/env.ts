import { parseEnv } from "@millrace/env";
import { workerConcurrency } from "@millrace/worker-host";
import { z } from "zod";

const days = (fallback: number) => z.coerce.number().int().min(0).max(3_650).default(fallback);

export const scheduleEnvSchema = z.object({
  SCHEDULE_WORKER_CONCURRENCY: workerConcurrency,
  DEAD_LETTER_MAX_AGE_DAYS: days(30),
  // Longer than a delivery is tried, which takes three days: until then the database alone remembers what was delivered already.
  WEBHOOK_DELIVERY_MAX_AGE_DAYS: days(30).unwrap().min(4).default(30),
  WAITING_PARENT_MAX_AGE_DAYS: days(30),
  // Until then the deletion may be taken back.
  WORKSPACE_CLEAN_UP_AFTER_DAYS: days(7),
  // No enqueue may wait for more than 365 days: by then no job of the workspace can be left.
  WORKSPACE_FORGET_AFTER_DAYS: days(400),
});

export type ScheduleEnv = z.output<typeof scheduleEnvSchema>;

export function readScheduleEnv(): ScheduleEnv {
  return parseEnv(scheduleEnvSchema);
}
