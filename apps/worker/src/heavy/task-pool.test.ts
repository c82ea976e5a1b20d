import { createLogger } from "@millrace/logger";
import { afterAll, expect, test } from "vitest";
import { openTaskPool, type TaskContext } from "./task-pool.ts";
import type { TestTasks } from "./tasks/test/test-thread.ts";

const openPool = () =>
  openTaskPool<TestTasks>({
    threadFile: new URL("./tasks/test/test-thread.ts", import.meta.url),
    threads: 2,
    memoryMb: 64,
    log: createLogger({ level: "silent" }),
  });
const pool = openPool();
afterAll(() => pool.close());

const context = (overrides: Partial<TaskContext> = {}): TaskContext => ({
  signal: new AbortController().signal,
  progress: async () => {},
  ...overrides,
});

test("a task says how far it is, each whole percent once", async () => {
  const seen: number[] = [];
  const progress = async (percent: number) => void seen.push(percent);
  await expect(pool.run("spin", { forMs: 200 }, context({ progress }))).resolves.toBe("spun");
  expect(seen.length).toBeGreaterThan(5);
  expect(seen).toEqual([...new Set(seen)].sort((one, other) => one - other));
});

test("the signal ends a thread that listens to nothing within a second, and the neighbour's not", async () => {
  const cancelling = new AbortController();
  const isSpinning = Promise.withResolvers<void>();
  const progress = async () => isSpinning.resolve();
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const spinning = pool.run("spin", { forMs: 20_000, beats }, context({ signal: cancelling.signal, progress }));
  const neighbour = pool.run("spin", { forMs: 700 }, context());
  await isSpinning.promise;
  cancelling.abort(new Error("called off"));
  await expect(spinning).rejects.toThrow("called off");
  let last = 0;
  const isStill = () => {
    const before = last;
    last = Atomics.load(beats, 0);
    return last > 0 && last === before;
  };
  await expect.poll(isStill, { timeout: 1_000, interval: 50 }).toBe(true);
  await expect(pool.run("spin", { forMs: 0 }, context())).resolves.toBe("spun");
  await expect(neighbour).resolves.toBe("spun");
});

test.each(["fillHeap", "fillBuffers"] as const)(
  "%s: what needs more memory than a thread has fails alone and for good, its neighbour goes on",
  async (task) => {
    const fresh = openPool();
    const neighbour = fresh.run("spin", { forMs: 1_000 }, context());
    await expect(fresh.run(task, null, context())).rejects.toMatchObject({
      failureKind: "permanent",
      code: "out_of_memory",
    });
    await expect(neighbour).resolves.toBe("spun");
    await expect(fresh.run("spin", { forMs: 0 }, context())).resolves.toBe("spun");
    await fresh.close();
  },
);

test("a task that fits and leaves much behind runs to its end", async () => {
  await expect(pool.run("churn", { forMs: 1_400 }, context())).resolves.toBe("churned");
});

test("what is too much in a thread that has done other work is tried again: it may be the other's", async () => {
  const used = openPool();
  try {
    await used.run("spin", { forMs: 0 }, context());
    await expect(used.run("fillBuffers", null, context())).rejects.toMatchObject({
      failureKind: "transient",
      code: "out_of_memory",
    });
    await expect(used.run("fillBuffers", null, context())).rejects.toMatchObject({ failureKind: "permanent" });
  } finally {
    await used.close();
  }
});

test("a thread that ends itself fails its task alone, and is tried again", async () => {
  const neighbour = pool.run("spin", { forMs: 500 }, context());
  await expect(pool.run("exit", null, context())).rejects.toMatchObject({
    failureKind: "transient",
    code: "thread_ended",
  });
  await expect(neighbour).resolves.toBe("spun");
});

test("a refusal keeps its code on the way out of the thread, any other error its message", async () => {
  await expect(pool.run("refuse", null, context())).rejects.toMatchObject({
    failureKind: "permanent",
    code: "no_such_colour",
    message: "Expected a colour.",
  });
  await expect(pool.run("fail", null, context())).rejects.toThrow(new RangeError("broken"));
});
