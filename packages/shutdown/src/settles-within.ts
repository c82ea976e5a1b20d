/** Waits for `done`, and no longer than `limitMs`. @returns whether it settled in time */
export async function settlesWithin(done: Promise<unknown>, limitMs: number): Promise<boolean> {
  const { promise: tooLate, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), limitMs);
  try {
    return await Promise.race([done.then(() => true), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
