import { pbkdf2 } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { serveTasks } from "../serve-tasks.ts";
import { type Task, TaskRefusal } from "../task.ts";

const hold: unknown[] = [];

/** Tasks that misbehave in one way each; `crash` is for a process alone. */
export const tasks = {
  /** Keeps its thread busy, says how far it is, and counts in `beats` for as long as it lives. */
  spin:
    async (): Promise<Task<{ forMs: number; beats?: Int32Array }, string>> =>
    async ({ forMs, beats }, { progress }) => {
      const start = performance.now();
      for (let gone = 0; gone < forMs; gone = performance.now() - start) {
        progress((100 * gone) / forMs);
        if (beats) Atomics.add(beats, 0, 1);
      }
      return "spun";
    },
  fillHeap: async (): Promise<Task<null, never>> => async () => {
    for (;;) hold.push(Array.from({ length: 1_000 }, () => ({})));
  },
  fillBuffers: async (): Promise<Task<null, never>> => async () => {
    for (;;) {
      hold.push(Buffer.alloc(8 * 1_024 * 1_024, 1));
      const until = performance.now() + 5;
      while (performance.now() < until);
    }
  },
  /** Holds two buffers of 10 MiB at most, and leaves many behind. */
  churn:
    async (): Promise<Task<{ forMs: number }, string>> =>
    async ({ forMs }) => {
      const until = performance.now() + forMs;
      for (let last: Buffer[] = []; performance.now() < until; ) {
        last = [...last.slice(-1), Buffer.alloc(10 * 1_024 * 1_024, 1)];
        await wait(10);
      }
      return "churned";
    },
  pid: async (): Promise<Task<null, number>> => async () => process.pid,
  /** Is in a native call for minutes, which leaves the event loop free, as sharp does. */
  compute: async (): Promise<Task<null, never>> => () =>
    new Promise(() => pbkdf2("word", "salt", 2 ** 31 - 1, 64, "sha512", () => {})),
  exit: async (): Promise<Task<null, never>> => async () => process.exit(3),
  crash: async (): Promise<Task<null, never>> => async () => {
    process.kill(process.pid, "SIGSEGV");
    for (;;);
  },
  refuse: async (): Promise<Task<null, never>> => async () => {
    throw new TaskRefusal("no_such_colour", "Expected a colour.");
  },
  fail: async (): Promise<Task<null, never>> => async () => {
    throw new RangeError("broken");
  },
};

export type TestTasks = typeof tasks;
export default serveTasks(tasks);
