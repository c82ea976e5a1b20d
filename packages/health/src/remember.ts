// An answer that was lost, as on a dead connection, must not be waited for for ever.
const lostAfterMs = 10_000;

/**
 * Puts a question at most once at a time, and keeps its answer, or its refusal, for a moment: however many ask, and however slow the
 * answer, questions do not pile up. One that has no answer after 10 seconds is put again.
 *
 * @param keepMs for how many milliseconds an answer is given again
 */
export function remember<T>(ask: () => Promise<T>, keepMs: number): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let expiresAt = 0;
  return () => {
    const now = performance.now();
    if (answer !== undefined && now < expiresAt) return answer;
    // In a promise of its own: what throws at once is a refusal like another.
    const asked = Promise.resolve().then(ask);
    answer = asked;
    expiresAt = now + lostAfterMs;
    const settle = () => {
      if (answer === asked) expiresAt = performance.now() + keepMs;
    };
    asked.then(settle, settle);
    return asked;
  };
}
