import { spawn } from "node:child_process";
import { type Command, createConcurrently, LogError, Logger, LogOutput } from "concurrently";

export interface SupervisedProcess {
  readonly name: string;
  /** A command line for the system's shell. */
  readonly command: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
}

export interface Supervisor {
  /** Resolves with a process's name and exit code when the first one ends by itself. */
  readonly firstExit: Promise<{ name: string; exitCode: string | number }>;
  /** Ends the first process, which feeds the others, then the others side by side, and waits for them. */
  stop(): Promise<void>;
  /** Ends what is left at once. */
  kill(): void;
}

const colors = ["cyan", "magenta", "yellow", "green", "blue", "gray"];

/**
 * Runs processes side by side, their lines coloured and prefixed. Each is in a process group of its own, so that a terminal's Ctrl-C
 * reaches none of them directly and `stop` decides the order.
 */
export function supervise(processes: readonly SupervisedProcess[]): Supervisor {
  const isWindows = process.platform === "win32";
  const logger = new Logger({ prefixFormat: "name", hide: [] });
  const { commands, result } = createConcurrently(
    processes.map(({ command, ...rest }, index) => ({
      ...rest,
      // The shell makes way for the command, or a signal would end the shell alone.
      command: isWindows ? command : `exec ${command}`,
      prefixColor: colors[index % colors.length] ?? "reset",
    })),
    {
      logger,
      outputStream: process.stdout,
      controllers: [new LogError({ logger }), new LogOutput({ logger })],
      spawn: (command, options) => spawn(command, { ...options, shell: true, detached: !isWindows }),
      kill: sendSignal,
    },
  );
  // Each outcome is looked at below; as a whole it says nothing more.
  result.catch(() => {});
  const ended = new Map(commands.map((command) => [command, untilClosed(command)]));
  for (const [command, closed] of ended) {
    void closed.then(({ exitCode }) => logger.logCommandEvent(`ended with ${exitCode}`, command));
  }
  return {
    firstExit: Promise.race(ended.values()),
    stop: async () => {
      const [first, ...others] = commands;
      const end = async (command: Command) => {
        if (!command.exited) command.kill("SIGTERM");
        await ended.get(command);
      };
      if (first) await end(first);
      await Promise.all(others.map(end));
    },
    kill: () => {
      for (const command of commands) {
        if (command.pid !== undefined && !command.exited) sendSignal(isWindows ? command.pid : -command.pid, "SIGKILL");
      }
    },
  };
}

function untilClosed(command: Command): Promise<{ name: string; exitCode: string | number }> {
  const { promise, resolve } = Promise.withResolvers<{ name: string; exitCode: string | number }>();
  command.close.subscribe(({ exitCode }) => resolve({ name: command.name, exitCode }));
  return promise;
}

/** To one process, or by a negative id to a group. */
function sendSignal(pid: number, signal: string | undefined): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It went by itself in the meantime: its end is there before its streams are closed, by which it is known.
  }
}
