/** An IANA time zone: what its clocks show at an instant. */
export interface TimeZone {
  /** How far its clocks are ahead of UTC, in milliseconds. */
  offsetAt(instantMs: number): number;
  /** The instant as its clocks show it, with the offset: `2026-03-08T03:00:00-04:00`. */
  format(instantMs: number): string;
}

// Making one takes a hundred times as long as asking it. Names come from outside, in any mixture of cases, so the number is bounded.
const known = new Map<string, TimeZone>();
const maxKnown = 1_000;

/** @returns undefined when there is no such zone. An offset such as `+01:00` is none: it knows no daylight saving time. */
export function findTimeZone(name: string): TimeZone | undefined {
  const found = known.get(name);
  if (found) return found;
  const made = makeTimeZone(name);
  if (!made) return undefined;
  if (known.size >= maxKnown) known.clear();
  known.set(name, made);
  return made;
}

function makeTimeZone(name: string): TimeZone | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  let clock: Intl.DateTimeFormat;
  try {
    clock = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return undefined;
  }
  const offsetAt = (instantMs: number): number => {
    const shown: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of clock.formatToParts(instantMs)) shown[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instantMs / 1_000) * 1_000;
  };
  return {
    offsetAt,
    format: (instantMs) => {
      const offsetMs = offsetAt(instantMs);
      const wallClock = new Date(instantMs + offsetMs).toISOString().slice(0, 19);
      const minutes = Math.abs(Math.trunc(offsetMs / 60_000));
      const twoDigits = (value: number) => String(value).padStart(2, "0");
      return `${wallClock}${offsetMs < 0 ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
    },
  };
}
