import { setTimeout as wait } from "node:timers/promises";
import { InvalidJobError, QueueUnavailableError } from "@millrace/worker-config";
import type { CodeSchedule } from "./define-schedule.ts";
import { giveBackTick, rearmSchedules, settleTick, takeDueSchedules } from "./due-schedules.ts";
import { onceAMinute } from "./once-a-minute.ts";
import { type Registration, registerSchedules } from "./register-schedules.ts";
import { runTick, type TickTools } from "./run-tick.ts";
import type { StoredSchedule } from "./stored-schedule.ts";

/** Carries the schedules out, beside as many others as there are processes: each due time is one process's. */
export interface Scheduler {
  /**
   * Registers the code's schedules and begins. Rejects, and begins nothing, when they cannot be registered: they are not sound, or Redis refuses, or
   * does not answer for some seconds.
   */
  start(): Promise<void>;
  /** Rejects while the schedules are not carried out: not registered yet, or Redis does not answer. */
  check(): Promise<void>;
  /** Resolves when the tick under way has ended. */
  close(): Promise<void>;
}

export interface SchedulerOptions extends TickTools {
  readonly schedules: readonly CodeSchedule[];
  /** Told what became of due times, of each tick once: of the metrics, not of the truth, which is in Redis. */
  readonly onRuns?: (outcome: "on_time" | "late" | "missed" | "skipped", count: number) => void;
  /** How often it sees whether a schedule fell out of the due ones, or Redis lost its data. Defaults to a minute. */
  readonly repairEveryMs?: number;
}

/** How many schedules are dealt with at a time. */
const batchSize = 50;
/** A schedule that was just added may be due before the one that this process waits for. */
const longestWaitMs = 1_000;
const retryMs = 1_000;
/** A newer process, which knows the action, is as likely to take the tick up as this one. */
const unknownActionRetryMs = 5_000;
/** Each waits for Redis as long as a producer does, 1.5 seconds. */
const registrationAttempts = 5;

export function createScheduler({
  schedules,
  repairEveryMs = 60_000,
  onRuns = () => {},
  ...tools
}: SchedulerOptions): Scheduler {
  const { log } = tools;
  const maySay = onceAMinute();
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let registration: Registration | undefined;
  let repairedAt = Number.NEGATIVE_INFINITY;
  let isOut = false;

  const carryOut = async (stored: StoredSchedule, now: number): Promise<number> => {
    const { schedule, dueMs } = stored;
    if (dueMs === null) return Number.POSITIVE_INFINITY;
    try {
      const result = await runTick({ ...stored, dueMs }, now, tools);
      await settleTick(stored, result);
      const { runs, late, missed, skipped } = result;
      const outcomes = { on_time: runs - late, late, missed, skipped } as const;
      for (const outcome of ["on_time", "late", "missed", "skipped"] as const) onRuns(outcome, outcomes[outcome]);
      return result.nextDueMs ?? Number.POSITIVE_INFINITY;
    } catch (err) {
      const isUnknown = err instanceof InvalidJobError && err.code === "unknown_action";
      const waitMs = isUnknown ? unknownActionRetryMs : retryMs;
      const [code, message] = isUnknown
        ? ["schedule_action_unknown", "a run is left to a process that knows its action, for a day"]
        : ["tick_failed", "a tick failed and is tried again"];
      if (!isUnknown || maySay(`${code} ${schedule.id}`)) log.warn({ code, scheduleId: schedule.id, err }, message);
      await giveBackTick(stored, waitMs).catch(() => {});
      return now + waitMs;
    }
  };
  /** @returns how long nothing is due */
  const look = async (): Promise<number> => {
    const startedAt = performance.now();
    const { now, taken, unreadable, nextMs = Number.POSITIVE_INFINITY } = await takeDueSchedules(batchSize);
    for (const scheduleId of unreadable) {
      if (!maySay(`schedule_unreadable ${scheduleId}`)) continue;
      log.error({ code: "schedule_unreadable", scheduleId }, "a schedule is damaged, or of a newer version");
    }
    const nextDues = await Promise.all(taken.map((stored) => carryOut(stored, now)));
    return Math.min(nextMs, ...nextDues) - now - (performance.now() - startedAt);
  };
  const repair = async () => {
    if (performance.now() - repairedAt < repairEveryMs) return;
    if (await registration?.renew()) log.warn({ code: "schedules_registered_anew" }, "Redis had lost the schedules");
    for (const scheduleId of await rearmSchedules()) {
      log.warn({ code: "schedule_rearmed", scheduleId }, "a schedule was not due at any time, and is again");
    }
    repairedAt = performance.now();
  };
  const follow = async () => {
    while (!closing.signal.aborted) {
      const idleMs = await look()
        .then(async (ms) => {
          await repair();
          isOut = false;
          return ms;
        })
        .catch((err: unknown) => {
          if (!isOut) log.warn({ code: "schedules_unreachable", err }, "cannot look at the schedules, trying again");
          isOut = true;
          return longestWaitMs;
        });
      const waitMs = Math.min(Math.max(Math.ceil(idleMs), 1), longestWaitMs);
      await wait(waitMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  };
  return {
    start: async () => {
      registration = await registerPatiently(schedules);
      const { added, updated, removed } = registration;
      log.info({ added, updated, removed, total: schedules.length }, "schedules registered");
      running = follow();
    },
    check: async () => {
      if (!registration) throw new Error("The code's schedules are not registered yet.");
      if (isOut) throw new Error("Redis does not say what is due.");
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/** A Redis that is slow at this moment is no reason to end the process. */
async function registerPatiently(schedules: readonly CodeSchedule[]): Promise<Registration> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await registerSchedules(schedules);
    } catch (error) {
      const isUnanswered =
        error instanceof QueueUnavailableError && !(error.cause instanceof Error && error.cause.name === "ReplyError");
      if (!isUnanswered || attempt === registrationAttempts) throw error;
    }
  }
}
