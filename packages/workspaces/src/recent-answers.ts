/** Answers by key, those used last: beyond the limit the one goes that was not used for longest. `null` is an answer too: nobody, nothing. */
export interface RecentAnswers {
  get(key: string): string | null | undefined;
  set(key: string, answer: string | null): void;
  forget(key: string): void;
  forgetEvery(answer: string): void;
}

export function createRecentAnswers(limit: number): RecentAnswers {
  // A Map keeps the order in which its keys were set.
  const answers = new Map<string, string | null>();
  const set = (key: string, answer: string | null) => {
    answers.delete(key);
    answers.set(key, answer);
  };
  return {
    get: (key) => {
      const answer = answers.get(key);
      if (answer !== undefined) set(key, answer);
      return answer;
    },
    set: (key, answer) => {
      set(key, answer);
      const [oldest] = answers.keys();
      if (answers.size > limit && oldest !== undefined) answers.delete(oldest);
    },
    forget: (key) => void answers.delete(key),
    forgetEvery: (answer) => {
      for (const [key, held] of answers) if (held === answer) answers.delete(key);
    },
  };
}
