import { answerTask, type TaskCall } from "./answer-task.ts";
import type { TaskLoaders } from "./task.ts";

/** The whole of a process's file: a task and its answer, again and again. */
export function serveProcess(loaders: TaskLoaders): void {
  // Not `exit`, which waits for what a native library is doing. Whoever asked is gone.
  process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.on("message", (call: TaskCall) => {
    answerTask(loaders, call, (percent) => process.send?.({ percent })).then(
      (answer) => process.send?.(answer),
      (error: unknown) => process.send?.({ error }),
    );
  });
}
