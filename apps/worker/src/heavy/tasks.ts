import type { TaskLoaders } from "./tasks/task.ts";

/** One entry per task, loaded on demand. */
export const tasks = {
  transformImage: async () => (await import("./tasks/transform-image.ts")).transformImage,
} satisfies TaskLoaders;

export type HeavyTasks = typeof tasks;
