import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { MessageChannel, receiveMessageOnPort, type Worker } from "node:worker_threads";
import type { Logger } from "@millrace/logger";
import { type JobContext, PermanentError, TransientError } from "@millrace/worker-host";
import { Piscina } from "piscina";
import type { TaskAnswer } from "./tasks/answer-task.ts";
import type { TaskNews, TaskRequest } from "./tasks/serve-tasks.ts";
import type { AnswerOf, InputOf, TaskLoaders } from "./tasks/task.ts";

export interface TaskPoolSettings {
  /** The file whose default export is `serveTasks(…)`. */
  readonly threadFile: URL;
  /** As many as jobs run at once, so that no task waits for a thread. */
  readonly threads: number;
  /** What one thread may hold, heap and buffers together, in MiB. */
  readonly memoryMb: number;
  readonly log: Pick<Logger, "warn">;
}

/** What of a job's context a task needs. */
export type TaskContext = Pick<JobContext, "signal" | "progress">;

/**
 * Runs one task in a thread of its own. The signal ends the thread, whatever it is doing.
 *
 * @throws PermanentError with the code of the task's refusal, or `out_of_memory`
 * @throws TransientError `thread_ended` where the thread ended itself; `out_of_memory` where it may hold what an earlier task left
 */
export type RunTask<Loaders extends TaskLoaders> = <Name extends keyof Loaders & string>(
  name: Name,
  input: InputOf<Loaders, Name>,
  context: TaskContext,
) => Promise<AnswerOf<Loaders, Name>>;

export interface TaskPool<Loaders extends TaskLoaders> {
  readonly run: RunTask<Loaders>;
  /** Ends every thread, and with it what still runs. */
  close(): Promise<void>;
}

// Long enough that a thread is not made anew for each job of many, short enough that an idle worker holds no library in memory.
const idleMs = 30_000;
const lookEveryMs = 100;
// What is measured counts garbage as well: only what stays for a second is held, and V8 collects long before it is twice the limit.
const mostLooksOver = 10;
const atOnceFactor = 2;
const mebibyte = 1_024 * 1_024;

/**
 * Threads for work that would keep an event loop busy. The first task starts the first thread.
 *
 * V8 ends a thread whose heap is full. Buffers are outside its heap, and are looked at ten times a second: a thread that holds
 * too much for a second, or twice too much, is ended. What a native library holds is neither, cannot be ended in the middle, and ends the process when it crashes: that is for `openTaskProcesses`.
 */
export function openTaskPool<Loaders extends TaskLoaders>(settings: TaskPoolSettings): TaskPool<Loaders> {
  const { threadFile, threads, memoryMb, log } = settings;
  const pool = new Piscina<TaskRequest, TaskAnswer>({
    filename: fileURLToPath(threadFile),
    minThreads: 0,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: idleMs,
    // A thread that waits goes on with its event loop, so that what a task left open closes.
    atomics: "disabled",
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  // A thread that is ended already may run out of memory as well. Without a listener that would end the process.
  pool.on("error", (err: unknown) => log.warn({ code: "idle_thread_failed", err }, "a thread without a task failed"));
  const findThread = (threadId: number) => pool.threads.find((thread) => thread.threadId === threadId);

  const run: RunTask<Loaders> = async <Name extends keyof Loaders & string>(
    name: Name,
    input: InputOf<Loaders, Name>,
    { signal, progress }: TaskContext,
  ) => {
    const { port1: news, port2: port } = new MessageChannel();
    const isOver = new AbortController();
    const isTooLarge = new AbortController();
    let isReused = false;
    const hear = (message: TaskNews) => {
      if ("percent" in message) void progress(message.percent);
      else {
        isReused = message.isReused;
        void watchMemory(findThread(message.threadId), memoryMb * mebibyte, isTooLarge, isOver.signal);
      }
    };
    news.on("message", hear);
    try {
      const options = { transferList: [port], signal: AbortSignal.any([signal, isTooLarge.signal]) };
      const answer = await pool.run({ name, input, port }, options);
      // The answer may be faster than what was said before it.
      for (let late = receiveMessageOnPort(news); late; late = receiveMessageOnPort(news)) hear(late.message);
      if ("refusal" in answer) throw new PermanentError(answer.refusal.message, { code: answer.refusal.code });
      // What the task of that name returned, copied.
      return answer.value as AnswerOf<Loaders, Name>;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTooLarge.signal.aborted) throw explain(error, memoryMb);
      throw isReused ? outOfMemoryInReused(memoryMb) : outOfMemory(memoryMb);
    } finally {
      isOver.abort();
      news.close();
    }
  };
  return { run, close: () => pool.destroy() };
}

/** Aborts `isTooLarge` once the thread holds more than that for a second, or twice as much at all; until `isOver` aborts. */
async function watchMemory(
  thread: Worker | undefined,
  maxBytes: number,
  isTooLarge: AbortController,
  isOver: AbortSignal,
): Promise<void> {
  try {
    for (let looksOver = 0; thread && !isOver.aborted; ) {
      const { used_heap_size: heap, external_memory: buffers } = await thread.getHeapStatistics();
      const held = heap + buffers;
      looksOver = held > maxBytes ? looksOver + 1 : 0;
      if (looksOver >= mostLooksOver || held > maxBytes * atOnceFactor) return isTooLarge.abort();
      await wait(lookEveryMs, undefined, { signal: isOver });
    }
  } catch {
    // The thread or its task has ended meanwhile.
  }
}

function explain(error: unknown, memoryMb: number): unknown {
  if (!Error.isError(error)) return error;
  if ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY") return outOfMemory(memoryMb);
  if (!error.message.startsWith("worker exited with code")) return error;
  return new TransientError("The thread ended in the middle of its task.", { code: "thread_ended", cause: error });
}

function outOfMemory(memoryMb: number): PermanentError {
  return new PermanentError(
    `Expected work that fits into ${memoryMb} MiB of memory (HEAVY_THREAD_MEMORY_MB), this needs more.`,
    { code: "out_of_memory" },
  );
}

/** The thread is gone with what was in it: the next attempt has, or will have, one that is new. */
function outOfMemoryInReused(memoryMb: number): TransientError {
  return new TransientError(
    `A thread held more than ${memoryMb} MiB of memory (HEAVY_THREAD_MEMORY_MB), some of it perhaps of an earlier task.`,
    { code: "out_of_memory" },
  );
}
