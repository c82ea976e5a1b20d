import { Readable } from "node:stream";
import type { Terminal } from "../src/cli.ts";
import { runCli } from "../src/run-cli.ts";

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The documents of `--json`, one a line. */
  readonly documents: readonly Record<string, unknown>[];
  /** The `error` of the last line on stderr. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly isTerminal?: boolean;
  readonly isPlain?: boolean;
  readonly signal?: AbortSignal;
  /** Where the audit log is. Defaults to nowhere. */
  readonly databaseUrl?: string;
  /** Told all that stdout holds so far, whenever it has grown. */
  readonly onOutput?: (stdout: string) => void;
}

/** Runs a command in this process, as somebody called `ada`. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { stdin = "", isTerminal = false, isPlain = false, signal = new AbortController().signal, onOutput } = options;
  process.env.DATABASE_URL = options.databaseUrl ?? "";
  const written = { stdout: "", stderr: "" };
  const collect = (name: keyof typeof written) => ({
    isTTY: isTerminal,
    write: (text: string) => {
      written[name] += text;
      if (name === "stdout") onOutput?.(written.stdout);
    },
  });
  const input: Terminal["stdin"] = Object.assign(Readable.from([stdin]), { isTTY: isTerminal });
  const exitCode = await runCli(argv, {
    stdin: input,
    stdout: collect("stdout"),
    stderr: collect("stderr"),
    signal,
    user: "ada",
    isPlain,
  });
  const isJson = argv.includes("--json");
  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  const documents = isJson ? lines(written.stdout).map((line) => JSON.parse(line)) : [];
  const last = lines(written.stderr).at(-1);
  return { exitCode, ...written, documents, error: isJson && last ? JSON.parse(last).error : undefined };
}
