import { EnvironmentError } from "@millrace/env";
import { ForeignCursorError } from "@millrace/page-cursor";
import { DamagedRecordError, InvalidJobError, QueueUnavailableError } from "@millrace/worker-config";
import { z } from "zod";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** A command cannot do what was asked. `code` is for programs, the message for people. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  readonly code: string;

  constructor(exitCode: ExitCode, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** The one place that decides what an error means to whoever called. What it does not know is a fault, told with its stack. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof InvalidJobError) return new CliError(exitCodes.usage, error.code, error.message);
  if (error instanceof DamagedRecordError) return new CliError(exitCodes.failed, error.code, error.message);
  if (error instanceof EnvironmentError) return new CliError(exitCodes.usage, "invalid_environment", error.message);
  if (error instanceof QueueUnavailableError)
    return new CliError(exitCodes.redisUnavailable, error.code, error.message);
  if (error instanceof ForeignCursorError) {
    return new CliError(exitCodes.usage, "invalid_request", `--cursor: ${error.message}.`);
  }
  if (error instanceof z.ZodError) return new CliError(exitCodes.usage, "invalid_request", describeIssues(error));
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CliError(exitCodes.fault, "fault", text);
}

/** zod names fields and expectations, never the values. */
function describeIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join(".") || "request"}: ${message}.`).join(" ");
}
