import type { TaskLoaders } from "./tasks/task.ts";

/** One entry per task, loaded on demand. */
export const tasks = {
  generateReport: async () => (await import("./tasks/generate-report.ts")).generateReport,
  transformImage: async () => (await import("./tasks/transform-image.ts")).transformImage,
} satisfies TaskLoaders;

export type HeavyTasks = typeof tasks;
