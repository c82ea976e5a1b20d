import { type MessagePort, threadId } from "node:worker_threads";
import { type TaskLoaders, TaskRefusal } from "./task.ts";

/** What a pool asks of a thread. */
export interface TaskRequest {
  readonly name: string;
  readonly input: unknown;
  /** Where the thread says what it is doing. */
  readonly port: MessagePort;
}

/** What a thread says of its task while it runs. */
export type TaskNews = { readonly threadId: number } | { readonly percent: number };

/** An error of its own loses its code on the way to another thread: a refusal travels as data. */
export type TaskAnswer =
  | { readonly value: unknown }
  | { readonly refusal: { readonly code: string; readonly message: string } };

/** The one function of a thread's file: runs the task that is asked for. */
export function serveTasks(loaders: TaskLoaders): (request: TaskRequest) => Promise<TaskAnswer> {
  return async ({ name, input, port }) => {
    const tell = (news: TaskNews) => port.postMessage(news);
    tell({ threadId });
    let told = 0;
    const progress = (percent: number) => {
      const whole = Math.min(Math.floor(percent), 100);
      if (whole <= told) return;
      told = whole;
      tell({ percent: whole });
    };
    try {
      const load = loaders[name];
      if (!load) throw new Error(`Expected one of ${Object.keys(loaders).join(", ")}, got a task of another name.`);
      const task = await load();
      // The pool's types tie a task's input to its name.
      return { value: await task(input as never, { progress }) };
    } catch (error) {
      if (!(error instanceof TaskRefusal)) throw error;
      return { refusal: { code: error.code, message: error.message } };
    } finally {
      port.close();
    }
  };
}
