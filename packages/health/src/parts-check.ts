import { remember } from "./remember.ts";

/** Each part by its name, and whether it can be used now. Never rejects. */
export type CheckParts = () => Promise<Record<string, boolean>>;

export interface CheckOptions {
  /** How long one part may take, in milliseconds. Defaults to 2,000: a probe waits for a few seconds at most. */
  readonly withinMs?: number;
  /** How long an answer is given again, in milliseconds. Defaults to 1,000: probes of several sources ask as one. */
  readonly keepMs?: number;
}

/**
 * Asks all parts of a process at once, for its readiness. One that rejects, or is too slow, cannot be used, and takes no other answer with
 * it. A part that is still being asked is not asked again.
 *
 * @param checks resolves while the part can be used
 */
export function createPartsCheck(
  checks: Readonly<Record<string, () => Promise<unknown>>>,
  { withinMs = 2_000, keepMs = 1_000 }: CheckOptions = {},
): CheckParts {
  const parts = Object.entries(checks).map(([name, check]) => ({ name, ask: remember(check, keepMs) }));
  return async () => {
    const answers = parts.map(async ({ name, ask }) => [name, await isThere(ask(), withinMs)] as const);
    return Object.fromEntries(await Promise.all(answers));
  };
}

async function isThere(answer: Promise<unknown>, withinMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), withinMs);
  const answered = answer.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}
