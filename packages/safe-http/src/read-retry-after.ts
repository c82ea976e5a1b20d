const shortestMs = 1_000;
const longestMs = 60 * 60_000;

/**
 * What a Retry-After says (RFC 9110, 10.2.3): seconds or a date. A server that says years is asked again within an hour.
 *
 * @param value the header
 * @param now milliseconds since 1970, for a value that is a date
 * @returns milliseconds from now, between a second and an hour; undefined where it is neither
 */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const waitMs = /^\d{1,9}(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(Math.ceil(waitMs), shortestMs), longestMs);
}
