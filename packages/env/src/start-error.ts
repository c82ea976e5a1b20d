/** A program cannot start, or go on, as things are around it. The message says what a person can do; no stack would say more. */
export class StartError extends Error {
  override readonly name: string = "StartError";
  /** Each thing to mend in a sentence of its own. */
  readonly problems: readonly string[];

  /** @param options.problems defaults to the message alone */
  constructor(
    message: string,
    { problems = [message], ...options }: ErrorOptions & { readonly problems?: readonly string[] } = {},
  ) {
    super(message, options);
    this.problems = problems;
  }
}

/**
 * Says what a person can do where a server cannot listen.
 *
 * @param variable what sets the port, such as `API_PORT`
 * @throws StartError where `error` is about the address, else `error`
 */
export function explainListenError(error: unknown, variable: string, host: string, port: number): never {
  const reasons = new Map([
    ["EADDRINUSE", "somebody listens there already"],
    ["EACCES", "this user may not listen there"],
    ["EADDRNOTAVAIL", "this machine does not have that address"],
    ["ENOTFOUND", "no machine has that name"],
  ]);
  const reason = error instanceof Error && "code" in error ? reasons.get(String(error.code)) : undefined;
  if (reason === undefined) throw error;
  throw new StartError(
    `Cannot listen on port ${port} of ${host}: ${reason}. End it, or set ${variable} (or ${variable.replace("PORT", "HOST")}) to another one.`,
    { cause: error },
  );
}
