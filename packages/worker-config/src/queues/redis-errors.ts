/** Redis knows a script by its digest alone, and has forgotten it. */
export function isScriptLost(error: Error | null | undefined): boolean {
  return error?.message.startsWith("NOSCRIPT") === true;
}

/** Redis itself said no (read only, out of memory). */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}

/** Nothing was written: the connection was down, and there is no offline queue. */
export function isUnsent(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Stream isn't writeable");
}

/** The connection broke between the command and its reply. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isCutOff =
    /^Connection is closed|^Command aborted/.test(error.message) || error.name === "MaxRetriesPerRequestError";
  return isCutOff || ("code" in error && /^E[A-Z]+$/.test(String(error.code)) && "syscall" in error);
}

/** Whether Redis says that a key is of another kind than its command needs. A script's error names it behind other words. */
export function isOfAnotherKind(error: unknown): boolean {
  return error instanceof Error && /\bWRONGTYPE\b/.test(error.message);
}
