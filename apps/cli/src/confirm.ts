import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Cli } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";

/**
 * Asks before something that cannot be taken back. `--yes` answers; without a terminal nobody else can.
 *
 * @throws CliError when it was not allowed
 */
export async function confirm(cli: Cli, question: string, isAllowed: boolean | undefined): Promise<void> {
  if (isAllowed) return;
  if (!cli.stdin.isTTY || !cli.stderr.isTTY || cli.isJson) {
    const message = `${question} Expected --yes where no terminal can be asked; nothing was done.`;
    throw new CliError(exitCodes.usage, "not_confirmed", message);
  }
  cli.stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: cli.stdin });
  try {
    // At the end of the input (Ctrl-D) a question is left open for ever, and the lines are closed.
    const unanswered = once(lines, "close").then(() => "");
    const answer = await Promise.race([lines.question("", { signal: cli.signal }), unanswered]);
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  throw new CliError(exitCodes.failed, "not_confirmed", "Nothing was done.");
}
