const maxCauses = 10;
/** A message is for a person and goes into Redis, each log line and every list of dead letters: a driver may put a whole answer into its own. */
const maxMessage = 2_000;
const maxStack = 8_000;

/** What the host, and whoever it hands the error on to, reads of an error beside its message, stack and cause. */
const meaning = ["failureKind", "code", "retryAfterMs", "isSkip"] as const;

/**
 * Whatever was thrown, as an error that can be read, stored and logged: null, a string, an error whose fields throw, are of another type, or
 * are megabytes. One that is sound is the answer itself; of any other it is a copy, of which what cannot be read is left out.
 */
export function toReadableError(thrown: unknown): Error {
  if (!Error.isError(thrown)) {
    const text = typeof thrown === "string" ? thrown : `a handler threw ${thrown === null ? "null" : typeof thrown}`;
    return new Error(cut(text, maxMessage));
  }
  return isSound(thrown) ? thrown : copyOf(thrown, maxCauses);
}

function isSound(thrown: Error): boolean {
  try {
    let link: unknown = thrown;
    for (let depth = 0; depth <= maxCauses && Error.isError(link); depth++) {
      const { name, message, stack, cause } = link;
      if (typeof name !== "string" || typeof message !== "string" || message.length > maxMessage) return false;
      if (stack !== undefined && (typeof stack !== "string" || stack.length > maxStack)) return false;
      for (const field of meaning) Reflect.get(link, field);
      link = cause;
    }
    return true;
  } catch {
    return false;
  }
}

function copyOf(error: Error, causesLeft: number): Error {
  const cause = read(error, "cause");
  const copy = new Error(cut(textOf(error, "message") ?? "an error without a message that can be read", maxMessage), {
    ...(cause !== undefined && {
      cause: Error.isError(cause) && causesLeft > 0 ? copyOf(cause, causesLeft - 1) : null,
    }),
  });
  copy.name = cut(textOf(error, "name") ?? "Error", maxMessage);
  copy.stack = cut(textOf(error, "stack") ?? `${copy.name}: ${copy.message}`, maxStack);
  for (const field of meaning) {
    const value = read(error, field);
    if (value !== undefined) Object.assign(copy, { [field]: value });
  }
  return copy;
}

function read(error: Error, field: string): unknown {
  try {
    return Reflect.get(error, field);
  } catch {
    return undefined;
  }
}

function textOf(error: Error, field: string): string | undefined {
  const value = read(error, field);
  return typeof value === "string" ? value : undefined;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}… (${text.length - length} characters more)`;
}
