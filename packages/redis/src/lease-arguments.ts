// What a timer of Node can wait; it fires at once where it is asked for more.
const longestMs = 2_147_483_647;

/** @throws RangeError */
export function checkName(argument: string, name: string): void {
  if (typeof name !== "string" || name === "") {
    throw new RangeError(`${argument}: expected a text that is not empty, got ${JSON.stringify(name)}.`);
  }
}

/**
 * @param unitMs how many milliseconds the argument's unit has
 * @throws RangeError
 */
export function checkDuration(
  argument: string,
  duration: number,
  { unitMs, mayBeZero }: { unitMs: number; mayBeZero: boolean },
): void {
  const isInRange = Number.isFinite(duration) && duration >= 0 && duration * unitMs <= longestMs;
  if (isInRange && (mayBeZero || duration > 0)) return;
  const range = `${mayBeZero ? "of at least 0" : "above 0"} and at most ${Math.floor(longestMs / unitMs)}`;
  throw new RangeError(`${argument}: expected a finite number ${range}, got ${String(duration)}.`);
}
