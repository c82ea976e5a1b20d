import { type ChildProcess, fork } from "node:child_process";
import { PermanentError, TransientError } from "@millrace/worker-host";
import type { RunTask, TaskContext, TaskPool } from "./task-pool.ts";
import type { TaskAnswer } from "./tasks/answer-task.ts";
import type { AnswerOf, TaskLoaders } from "./tasks/task.ts";

export interface TaskProcessSettings {
  /** The file that calls `serveProcess(…)`. */
  readonly processFile: URL;
  /** What the heap of one process may hold, in MiB. */
  readonly memoryMb: number;
}

type Message = TaskAnswer | { readonly percent: number } | { readonly error: unknown };

const idleMs = 30_000;

/**
 * Runs tasks in processes, one at a time in each. For native libraries: a thread in the middle of a native call cannot be ended, and takes
 * the whole worker along when that call crashes; a process is killed, and dies alone. It is given no variable of the environment: a
 * hostile file finds no password in it.
 *
 * The signal kills the process. `run` throws what the task threw, PermanentError with the code of the task's refusal, and TransientError
 * `process_ended` where the process died in the middle.
 */
export function openTaskProcesses<Loaders extends TaskLoaders>(settings: TaskProcessSettings): TaskPool<Loaders> {
  const idle = new Map<ChildProcess, NodeJS.Timeout>();
  const kill = (child: ChildProcess) => {
    clearTimeout(idle.get(child));
    idle.delete(child);
    child.kill("SIGKILL");
  };
  const take = () => {
    const [child] = idle.keys();
    if (!child) return start(settings);
    clearTimeout(idle.get(child));
    idle.delete(child);
    forget(child);
    child.ref();
    child.channel?.ref();
    return child;
  };
  const keep = (child: ChildProcess) => {
    forget(child);
    for (const event of ["exit", "error"]) child.on(event, () => kill(child));
    // A worker that has nothing else to do ends all the same, and its processes with it.
    child.unref();
    child.channel?.unref();
    idle.set(child, setTimeout(() => kill(child), idleMs).unref());
  };

  const run: RunTask<Loaders> = async <Name extends keyof Loaders & string>(
    name: Name,
    input: unknown,
    { signal, progress }: TaskContext,
  ) => {
    signal.throwIfAborted();
    const child = take();
    const onAbort = () => kill(child);
    signal.addEventListener("abort", onAbort);
    try {
      const answer = await ask(child, { name, input }, progress);
      keep(child);
      if ("refusal" in answer) throw new PermanentError(answer.refusal.message, { code: answer.refusal.code });
      if ("error" in answer) throw answer.error;
      // What the task of that name returned, copied.
      return answer.value as AnswerOf<Loaders, Name>;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  };
  const close = async () => {
    for (const child of idle.keys()) kill(child);
  };
  return { run, close };
}

function start({ processFile, memoryMb }: TaskProcessSettings): ChildProcess {
  return fork(processFile, {
    execArgv: [`--max-old-space-size=${memoryMb}`],
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });
}

function forget(child: ChildProcess): void {
  for (const event of ["message", "error", "exit"]) child.removeAllListeners(event);
}

/** @throws TransientError `process_ended` */
function ask(
  child: ChildProcess,
  call: { readonly name: string; readonly input: unknown },
  progress: TaskContext["progress"],
): Promise<Exclude<Message, { readonly percent: number }>> {
  return new Promise((resolve, reject) => {
    const fail = (how: string, cause?: unknown) =>
      reject(
        new TransientError(`The process of the task ended in the middle of it (${how}).`, {
          code: "process_ended",
          cause,
        }),
      );
    child.on("message", (message: Message) => {
      if ("percent" in message) void progress(message.percent);
      else resolve(message);
    });
    child.on("error", (error) => fail("it could not be started or told", error));
    child.on("exit", (exitCode, killedBy) => fail(killedBy ?? `exit code ${exitCode}`));
    child.send(call);
  });
}
