import { CommanderError } from "@commander-js/extra-typings";
import { closeQueues } from "@millrace/worker-config";
import { createCli, type Terminal } from "./cli.ts";
import { CliError, toCliError } from "./cli-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { buildProgram } from "./program.ts";

/**
 * Runs one command to its end, and closes what it opened.
 *
 * @param argv the arguments alone, without node and file
 * @returns the exit code; an error has been printed by then, and none is thrown
 */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const end = argv.indexOf("--");
  const isJson = argv.slice(0, end === -1 ? undefined : end).includes("--json");
  const cli = createCli(terminal, isJson);
  // Producers tell an outage of Redis, and its reason, as a warning of the process.
  const onWarning = (warning: Error & { readonly code?: string }) => {
    if (warning.code === "MILLRACE_REDIS") cli.note("redis_unreachable", warning.message);
  };
  process.on("warning", onWarning);
  try {
    await buildProgram(cli).parseAsync(argv, { from: "user" });
    return terminal.signal.aborted ? exitCodes.interrupted : cli.exitCode;
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted;
    // Help and version, which commander has printed.
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const { exitCode, code, message } = error instanceof CommanderError ? toUsageError(error) : toCliError(error);
    terminal.stderr.write(isJson ? `${JSON.stringify({ error: { code, message } })}\n` : `millrace: ${message}\n`);
    return exitCode;
  } finally {
    await closeQueues();
    process.off("warning", onWarning);
  }
}

function toUsageError({ message }: CommanderError): CliError {
  // A group without a command shows its help, and commander's message is a stand-in for it.
  const text = message === "(outputHelp)" ? "expected a command, got none; --help lists them" : message;
  return new CliError(exitCodes.usage, "usage", text.replace(/^error: /, ""));
}
