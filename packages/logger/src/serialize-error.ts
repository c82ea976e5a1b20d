const maxCauses = 10;

/**
 * An error by its type, message, stack, code and causes, and nothing else of it: clients hang requests, arguments and passwords on their
 * errors. The message of a failed JSON.parse is replaced, because it quotes what was parsed. An error whose fields throw when they are read is a
 * sentence: whoever logs it must not fail of it.
 */
export function serializeError(error: unknown, depth = 0): unknown {
  try {
    return describe(error, depth);
  } catch {
    return "an error that cannot be read: its fields throw";
  }
}

function describe(error: unknown, depth: number): unknown {
  if (!Error.isError(error))
    return typeof error === "object" && error !== null ? `not an Error: ${typeof error}` : error;
  const quotesInput = error instanceof SyntaxError && /JSON/.test(error.message);
  const message = quotesInput ? "expected JSON, got something else" : error.message;
  const stack = quotesInput ? error.stack?.replace(error.message, message) : error.stack;
  const code =
    "code" in error && (typeof error.code === "string" || typeof error.code === "number") ? error.code : undefined;
  return {
    type: error.name,
    message,
    ...(stack !== undefined && { stack }),
    ...(code !== undefined && { code }),
    ...(error.cause !== undefined && depth < maxCauses && { cause: serializeError(error.cause, depth + 1) }),
  };
}
