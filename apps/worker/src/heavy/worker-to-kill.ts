import { createRunProgram, readText } from "./run-program.ts";
import { openTaskProcesses } from "./task-processes.ts";
import type { TestTasks } from "./tasks/test/test-thread.ts";

// For killed-worker.test.ts: what a heavy worker may be in the middle of when it is killed, a program with a child of its own, and a native call.
const folder = process.argv[2] ?? "";
const { signal } = new AbortController();
const processes = openTaskProcesses<TestTasks>({
  processFile: new URL("./tasks/test/test-process.ts", import.meta.url),
  memoryMb: 64,
});
const context = { signal, progress: async () => {} };
const pid = await processes.run("pid", null, context);
const computing = processes.run("compute", null, context);
const running = createRunProgram(`${folder}:/usr/bin:/bin`)({
  program: "ffmpeg",
  args: [],
  folder,
  signal,
  read: async (stdout) => {
    stdout.once("data", (pids) => process.send?.([pid, ...String(pids).trim().split(" ").map(Number)]));
    return readText(stdout, 100);
  },
});
await Promise.all([computing, running]);
