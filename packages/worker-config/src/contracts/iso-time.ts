const firstMs = Date.parse("0000-01-01T00:00:00.000Z");
const lastMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * A moment in UTC, or null where there is none: a damaged record holds anything where a time should be, and `Date` throws at it. One whose year
 * has not four digits (another producer counts in microseconds) is the first or last that has: readers of ISO times, our API's answers among them,
 * take no other.
 */
export function toIso(timestampMs: number | string | null | undefined): string | null {
  if (timestampMs === null || timestampMs === undefined || timestampMs === "") return null;
  const time = new Date(Number(timestampMs)).getTime();
  return Number.isNaN(time) ? null : new Date(Math.min(Math.max(time, firstMs), lastMs)).toISOString();
}
