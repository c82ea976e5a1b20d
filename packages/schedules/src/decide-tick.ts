import { nextRun, runsBetween } from "./cadence/index.ts";
import type { Schedule } from "./schedule.ts";

/** What a schedule does now. */
export interface Tick {
  /** The due times that get a run, in order. */
  readonly runs: readonly number[];
  /** How many of those are late by a minute or more. */
  readonly late: number;
  /** How many due times got none, because they were missed. */
  readonly missed: number;
  /** When it is due next; none where its pattern has no further date. */
  readonly nextDueMs: number | undefined;
}

/** A restart of the worker, or a pause of its machine, is no reason to leave out a run. */
const onTimeMs = 60_000;

/**
 * Which due times between the first one that was not dealt with and now get a run. The latest is on time if it is less than a minute late;
 * every other one was missed, and `missed` says what becomes of it.
 *
 * @param dueMs the first due time that was not dealt with
 */
export function decideTick(
  { cadence, missed }: Pick<Schedule, "cadence" | "missed">,
  { anchorMs, dueMs }: { readonly anchorMs: number; readonly dueMs: number },
  now: number,
): Tick {
  const isAll = typeof missed === "object";
  const max = isAll ? missed.all.max : 1;
  const { total, last } = runsBetween(cadence, anchorMs, { fromMs: dueMs, toMs: now, max });
  const latenessMs = isAll ? missed.all.withinMs : missed === "once" ? Number.POSITIVE_INFINITY : onTimeMs;
  const runs = last.filter((instant) => now - instant <= latenessMs);
  const late = runs.filter((instant) => now - instant > onTimeMs).length;
  return { runs, late, missed: total - runs.length, nextDueMs: nextRun(cadence, anchorMs, now) };
}
