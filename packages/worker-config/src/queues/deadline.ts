/**
 * Waits for `promise` no longer than `deadlineMs`. What comes after the deadline is ignored, a late rejection included.
 *
 * @throws what `onDeadline` makes
 */
export async function withDeadline<T>(promise: Promise<T>, deadlineMs: number, onDeadline: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onDeadline()), Math.max(0, deadlineMs));
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
