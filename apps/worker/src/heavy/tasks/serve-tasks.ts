import { type MessagePort, threadId } from "node:worker_threads";
import { answerTask, type TaskAnswer, type TaskCall } from "./answer-task.ts";
import type { TaskLoaders } from "./task.ts";

/** What a pool asks of a thread. */
export interface TaskRequest extends TaskCall {
  /** Where the thread says what it is doing. */
  readonly port: MessagePort;
}

/** What a thread says of its task while it runs. */
/** `isReused`: the thread has run another task before. */
export type TaskNews = { readonly threadId: number; readonly isReused: boolean } | { readonly percent: number };

/** The one function of a thread's file: runs the task that is asked for. */
export function serveTasks(loaders: TaskLoaders): (request: TaskRequest) => Promise<TaskAnswer> {
  let isReused = false;
  return async ({ port, ...call }) => {
    const tell = (news: TaskNews) => port.postMessage(news);
    tell({ threadId, isReused });
    isReused = true;
    try {
      return await answerTask(loaders, call, (percent) => tell({ percent }));
    } finally {
      port.close();
    }
  };
}
