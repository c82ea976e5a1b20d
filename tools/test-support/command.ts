import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { root } from "../workers.ts";

const run = promisify(execFile);

export interface Command {
  readonly process: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** Resolves with the first match in what is printed. Rejects when the command ends without it. */
  untilPrinted(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, once all that it has printed is in `output()`. */
  readonly ended: Promise<number | null>;
  /** The command's processes, itself included, as they are now. */
  processes(): Promise<number[]>;
  remove(): Promise<void>;
}

/** A command of the repository as a user starts it, but for the install. */
export function startCommand(args: readonly string[], env: Record<string, string> = {}): Command {
  // The run's own Redis is not the command's: it starts one as it does for a user.
  const { REDIS_URL: _, QUEUE_PREFIX: __, LOG_LEVEL: ___, ...inherited } = process.env;
  const child = spawn(process.execPath, ["tools/bootstrap.mjs", ...args], {
    cwd: root,
    env: { ...inherited, npm_config_user_agent: "pnpm/0 test", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const onOutput = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      for (const look of onOutput) look();
    });
  }
  // Not at its exit: its last line may be under way.
  const ended = once(child, "close").then(([code]: (number | null)[]) => code ?? null);
  return {
    process: child,
    output: () => output,
    ended,
    untilPrinted: (pattern) => {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
      const look = () => {
        const match = pattern.exec(output);
        if (match) resolve(match);
      };
      onOutput.add(look);
      look();
      ended.then(() => reject(new Error(`ended without printing ${pattern}:\n${output}`)));
      return promise;
    },
    processes: async () => descendants(child.pid ?? 0),
    remove: () => killTree(child),
  };
}

/** Kills a process and all that it and its own have started, in whatever process group. */
export async function killTree(child: ChildProcess): Promise<void> {
  const left = await descendants(child.pid ?? 0);
  child.kill("SIGKILL");
  for (const pid of left) if (isAlive(pid)) process.kill(pid, "SIGKILL");
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function descendants(pid: number): Promise<number[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid="]);
  const parents = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = new Set([pid]);
  let size = 0;
  while (size < found.size) {
    size = found.size;
    for (const [child = 0, parent = 0] of parents) if (found.has(parent)) found.add(child);
  }
  return [...found];
}
