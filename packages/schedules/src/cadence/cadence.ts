import { z } from "zod";
import { cronRuns } from "./cron-runs.ts";
import { CronError, parseCron } from "./parse-cron.ts";
import { findTimeZone } from "./time-zone.ts";

/** When a schedule is due: by the clocks of a zone, or again and again after the same time. */
export type Cadence =
  | {
      /** Five fields: minute, hour, day of month, month, day of week. */
      readonly cron: string;
      /** An IANA name, such as `Europe/Berlin`. */
      readonly timeZone: string;
    }
  | { readonly everyMs: number };

const dayMs = 24 * 60 * 60_000;

/** The fields of a cadence, for a schema that holds more than these. `refineCadence` then checks what lies between them. */
export const cadenceShape = {
  cron: z
    .string()
    .max(200)
    .optional()
    .describe("Five fields: minute, hour, day of month, month, day of week. Either this or everyMs."),
  timeZone: z.string().max(100).optional().describe("The IANA zone whose clocks cron means. Defaults to UTC."),
  everyMs: z
    .int()
    .min(100)
    .max(365 * dayMs)
    .optional()
    .describe("Due again and again after so many milliseconds, the first time one such time after its creation."),
};

/** What `cadenceShape` lets through. */
export interface CadenceFields {
  readonly cron?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly everyMs?: number | undefined;
}

/** Reports each field of a cadence that is not valid, or that is missing. */
export function refineCadence({ cron, timeZone, everyMs }: CadenceFields, context: z.RefinementCtx): void {
  const issue = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if ((cron === undefined) === (everyMs === undefined)) issue("cron", "expected either cron or everyMs");
  if (timeZone !== undefined && cron === undefined) issue("timeZone", "expected with cron only");
  const zone = findTimeZone(timeZone ?? "UTC");
  if (!zone) issue("timeZone", "expected an IANA time zone such as Europe/Berlin or UTC");
  if (cron === undefined || !zone) return;
  try {
    if (cronRuns(parseCron(cron), zone, Date.now()).next().done) issue("cron", "expected a date that exists");
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    issue("cron", error.message);
  }
}

/** @param fields checked by `refineCadence` */
export function toCadence({ cron, timeZone = "UTC", everyMs }: CadenceFields): Cadence {
  if (everyMs !== undefined) return { everyMs };
  if (cron !== undefined) return { cron, timeZone };
  throw new TypeError("cadence: expected cron or everyMs, got neither.");
}

export const cadenceSchema = z.strictObject(cadenceShape).superRefine(refineCadence).transform(toCadence);

/**
 * The instants at which a cadence is due, from `fromMs` on, in order and without end unless a pattern has no further date. What daylight
 * saving time does to a pattern: `cronRuns`.
 *
 * @param anchorMs what an interval is counted from; it is due for the first time one interval later
 */
export function* runsFrom(cadence: Cadence, anchorMs: number, fromMs: number): Generator<number, void> {
  if ("everyMs" in cadence) {
    const { everyMs } = cadence;
    const first = Math.max(1, Math.ceil((fromMs - anchorMs) / everyMs));
    for (let instant = anchorMs + first * everyMs; ; instant += everyMs) yield instant;
  }
  const zone = findTimeZone(cadence.timeZone);
  if (!zone) throw new RangeError(`timeZone: expected an IANA time zone, got ${JSON.stringify(cadence.timeZone)}.`);
  yield* cronRuns(parseCron(cadence.cron), zone, fromMs);
}

/** The first instant after `afterMs` at which a cadence is due, or none. */
export function nextRun(cadence: Cadence, anchorMs: number, afterMs: number): number | undefined {
  return runsFrom(cadence, anchorMs, afterMs + 1).next().value ?? undefined;
}

/** The instants from `fromMs` to `toMs`, both included, at which a cadence is due: how many they are, and the last `max` of them in order. */
export function runsBetween(
  cadence: Cadence,
  anchorMs: number,
  { fromMs, toMs, max }: { fromMs: number; toMs: number; max: number },
): { readonly total: number; readonly last: readonly number[] } {
  if ("everyMs" in cadence) {
    const { everyMs } = cadence;
    const first = Math.max(1, Math.ceil((fromMs - anchorMs) / everyMs));
    const total = Math.max(0, Math.floor((toMs - anchorMs) / everyMs) - first + 1);
    const kept = Math.min(max, total);
    const last = Array.from({ length: kept }, (_, index) => anchorMs + (first + total - kept + index) * everyMs);
    return { total, last };
  }
  const last: number[] = [];
  let total = 0;
  for (const instant of runsFrom(cadence, anchorMs, fromMs)) {
    if (instant > toMs) break;
    total += 1;
    last.push(instant);
    if (last.length > max) last.shift();
  }
  return { total, last };
}

/** The shortest time between two runs of a cadence, in milliseconds, among the first 500 and the first 400 days of them. */
export function shortestGapMs(cadence: Cadence, fromMs: number): number {
  if ("everyMs" in cadence) return cadence.everyMs;
  let shortest = Number.POSITIVE_INFINITY;
  let before = Number.NEGATIVE_INFINITY;
  const first = nextRun(cadence, fromMs, fromMs) ?? fromMs;
  for (const instant of runsFrom(cadence, fromMs, first).take(500)) {
    shortest = Math.min(shortest, instant - before);
    before = instant;
    if (instant > first + 400 * dayMs) break;
  }
  return shortest;
}
