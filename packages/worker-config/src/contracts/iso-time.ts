/** A moment in UTC, or null where there is none: a damaged record holds anything where a time should be, and `Date` throws at it. */
export function toIso(timestampMs: number | string | null | undefined): string | null {
  if (timestampMs === null || timestampMs === undefined || timestampMs === "") return null;
  const date = new Date(Number(timestampMs));
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
