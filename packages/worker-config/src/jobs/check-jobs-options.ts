import type { JobsOptions } from "bullmq";
import { jobIdSchema } from "../contracts/job-options.ts";
import { knownBackoffTypes } from "./backoff.ts";
import type { Issue } from "./check-json.ts";
import { InvalidJobError } from "./invalid-job-error.ts";

/**
 * Checks the options of a plain BullMQ `add` for what BullMQ takes and then does something else with: a backoff type that nobody
 * knows never backs off, `delay: NaN` is an error out of Lua, an empty id becomes an automatic one.
 *
 * @throws InvalidJobError
 */
export function checkJobsOptions(options: JobsOptions): void {
  const issues: Issue[] = [];
  const { attempts, backoff, delay, jobId, priority } = options;
  const check = (isRight: boolean, path: string, message: string) => {
    if (!isRight) issues.push({ path: `options.${path}`, message });
  };
  const isWhole = (value: number, minimum: number) => Number.isSafeInteger(value) && value >= minimum;
  if (delay !== undefined) check(isWhole(delay, 0), "delay", "expected whole milliseconds, 0 or more");
  if (attempts !== undefined) check(isWhole(attempts, 1), "attempts", "expected a whole number, 1 or more");
  if (priority !== undefined) check(isWhole(priority, 0), "priority", "expected a whole number, 0 or more");
  if (jobId !== undefined) {
    const parsed = jobIdSchema.safeParse(jobId);
    check(parsed.success, "jobId", parsed.error?.issues[0]?.message ?? "");
  }
  if (typeof backoff === "number") check(isWhole(backoff, 0), "backoff", "expected whole milliseconds, 0 or more");
  if (typeof backoff === "object") {
    const known = [...knownBackoffTypes].join(", ");
    check(knownBackoffTypes.has(backoff.type), "backoff.type", `expected one of ${known}`);
    if (backoff.delay !== undefined)
      check(isWhole(backoff.delay, 0), "backoff.delay", "expected whole milliseconds, 0 or more");
  }
  if (issues.length > 0) throw new InvalidJobError("invalid_options", "The options of the job are not valid.", issues);
}
