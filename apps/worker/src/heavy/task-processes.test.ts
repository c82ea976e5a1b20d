import { afterAll, expect, test } from "vitest";
import type { TaskContext } from "./task-pool.ts";
import { openTaskProcesses } from "./task-processes.ts";
import type { TestTasks } from "./tasks/test/test-thread.ts";

const { run, close } = openTaskProcesses<TestTasks>({
  processFile: new URL("./tasks/test/test-process.ts", import.meta.url),
  memoryMb: 64,
});
afterAll(close);

const context = (overrides: Partial<TaskContext> = {}): TaskContext => ({
  signal: new AbortController().signal,
  progress: async () => {},
  ...overrides,
});

test("the signal kills a process that listens to nothing within a second", async () => {
  const cancelling = new AbortController();
  let cancelledAt = Number.NaN;
  const progress = async () => {
    cancelledAt = performance.now();
    cancelling.abort(new Error("called off"));
  };
  // Rejects when the process is gone.
  await expect(run("spin", { forMs: 20_000 }, context({ signal: cancelling.signal, progress }))).rejects.toThrow(
    "called off",
  );
  expect(performance.now() - cancelledAt).toBeLessThan(1_000);
});

test("a native crash ends its task alone, which is tried again", async () => {
  const neighbour = run("spin", { forMs: 400 }, context());
  await expect(run("crash", null, context())).rejects.toMatchObject({
    failureKind: "transient",
    code: "process_ended",
    message: expect.stringContaining("SIGSEGV"),
  });
  await expect(neighbour).resolves.toBe("spun");
});

test("a process takes one task after the other, refusals and failures among them", async () => {
  await expect(run("refuse", null, context())).rejects.toMatchObject({
    failureKind: "permanent",
    code: "no_such_colour",
  });
  await expect(run("fail", null, context())).rejects.toThrow(new RangeError("broken"));
  await expect(run("spin", { forMs: 0 }, context())).resolves.toBe("spun");
});
