import type { TaskLoaders } from "./task.ts";

/** One entry per task, loaded on demand. */
export const tasks = {
  transformImage: async () => (await import("./transform-image.ts")).transformImage,
} satisfies TaskLoaders;

export type HeavyTasks = typeof tasks;
