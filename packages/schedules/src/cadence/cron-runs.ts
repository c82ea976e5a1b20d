import type { Cron } from "./parse-cron.ts";
import type { TimeZone } from "./time-zone.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** 29 February has the longest wait: from 2096 to 2104. */
const longestWaitDays = 9 * 366;

/**
 * The instants at which a pattern is due, from `fromMs` on, in order. It ends where none follows within nine years: then none ever does.
 *
 * The clocks of a zone jump, and the pattern is about clocks. A time of day that a jump leaves out runs at the first instant after the jump; one
 * that comes twice runs the first time. A periodic pattern is about periods: it runs in all of them that there are, in a repeated hour
 * as well, and in none that there is not; only where the jump takes all its times of that day, it runs once after the jump.
 */
export function* cronRuns(cron: Cron, zone: TimeZone, fromMs: number): Generator<number, void> {
  // What a jump takes from a day can run on the next one.
  let day = startOfDay(fromMs + zone.offsetAt(fromMs)) - dayMs;
  let latest = fromMs - 1;
  for (let waited = 0; waited < longestWaitDays; waited += 1, day += dayMs) {
    if (!isMatching(cron, new Date(day))) continue;
    for (const instant of runsOfDay(cron, zone, day)) {
      if (instant <= latest) continue;
      latest = instant;
      waited = 0;
      yield instant;
    }
  }
}

function startOfDay(wallMs: number): number {
  return Math.floor(wallMs / dayMs) * dayMs;
}

/** @param date whose UTC fields are what the zone's calendar shows */
function isMatching(cron: Cron, date: Date): boolean {
  if (!cron.months.has(date.getUTCMonth() + 1)) return false;
  const isDay = cron.days.has(date.getUTCDate());
  const isWeekday = cron.weekdays.has(date.getUTCDay());
  return cron.isEitherDay ? isDay || isWeekday : isDay && isWeekday;
}

/** @param day midnight by the zone's clocks, as if they were UTC */
function runsOfDay(cron: Cron, zone: TimeZone, day: number): Iterable<number> {
  const wallTimes = cron.hours.flatMap((hour) => cron.minutes.map((minute) => day + hour * hourMs + minute * 60_000));
  // No zone is farther from UTC than 14 hours: between these two lies the whole day, wherever it is.
  const before = zone.offsetAt(day - 15 * hourMs);
  const after = zone.offsetAt(day + dayMs + 15 * hourMs);
  if (before === after) return wallTimes.map((wall) => wall - before);

  const runs = new Set<number>();
  const leftOut: number[] = [];
  for (const wall of wallTimes) {
    const instants = [before, after].filter((offset) => zone.offsetAt(wall - offset) === offset);
    const ordered = instants.map((offset) => wall - offset).sort((one, other) => one - other);
    for (const instant of cron.isPeriodic ? ordered : ordered.slice(0, 1)) runs.add(instant);
    if (ordered.length === 0) leftOut.push(wall);
  }
  const isMadeUpFor = !cron.isPeriodic || leftOut.length === wallTimes.length;
  for (const wall of isMadeUpFor ? leftOut : []) runs.add(endOfJump(zone, wall, before, after));
  return [...runs].sort((one, other) => one - other);
}

/** The first instant after the jump that leaves out `wall`. */
function endOfJump(zone: TimeZone, wall: number, before: number, after: number): number {
  let last = wall - after;
  let first = wall - before;
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2);
    if (zone.offsetAt(middle) === before) last = middle;
    else first = middle;
  }
  return first;
}
