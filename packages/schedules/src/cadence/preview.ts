import { type Cadence, runsFrom } from "./cadence.ts";
import { findTimeZone } from "./time-zone.ts";

/** One instant at which a schedule is due. */
export interface DueTime {
  readonly utc: string;
  /** By the clocks of the cadence's zone, with their offset; an interval has none, and UTC stands in. */
  readonly local: string;
}

/** An instant as a person reads it, in UTC and by the clocks of the cadence's zone. */
export function toDueTime(cadence: Cadence, instantMs: number): DueTime {
  const zone = findTimeZone("timeZone" in cadence ? cadence.timeZone : "UTC");
  const utc = new Date(instantMs).toISOString();
  return { utc, local: zone?.format(instantMs) ?? utc };
}

/**
 * The next `count` runs from `fromMs` on.
 *
 * @param anchorMs what an interval is counted from
 */
export function previewRuns(cadence: Cadence, anchorMs: number, fromMs: number, count: number): DueTime[] {
  return [...runsFrom(cadence, anchorMs, fromMs).take(count)].map((instant) => toDueTime(cadence, instant));
}
