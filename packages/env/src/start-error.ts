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
