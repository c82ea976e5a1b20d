import type { Readable } from "node:stream";
import { styleText } from "node:util";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** Where text goes: `process.stdout`, or what a test collects it in. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** What the process has and a command uses. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Who operates: the audit log's name for them. */
  readonly user: string;
  /** NO_COLOR is set (https://no-color.org). */
  readonly isPlain: boolean;
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** One run of the program. */
export interface Cli extends Terminal {
  /** Documents on stdout and errors on stderr are JSON, one a line, and nothing else is printed. */
  readonly isJson: boolean;
  /** How the run ends; `done` until a command says otherwise. */
  exitCode: ExitCode;
  /** A command's answer, in the form that was asked for. */
  show(document: unknown, text: () => string): void;
  /** Something that whoever operates should know, beside the answer. */
  note(code: string, message: string): void;
  paint(style: Style, text: string): string;
}

export function createCli(terminal: Terminal, isJson: boolean): Cli {
  const { stdout, stderr } = terminal;
  const hasColor = stdout.isTTY === true && !terminal.isPlain && !isJson;
  return {
    ...terminal,
    isJson,
    exitCode: exitCodes.done,
    show: (document, text) => {
      stdout.write(`${isJson ? JSON.stringify(document) : text()}\n`);
    },
    note: (code, message) => {
      stderr.write(isJson ? `${JSON.stringify({ warning: { code, message } })}\n` : `millrace: ${message}\n`);
    },
    // Asked of stdout above, and not of the process that runs this.
    paint: (style, text) => (hasColor ? styleText(style, text, { validateStream: false }) : text),
  };
}
