import type { TaskLoaders } from "./tasks/task.ts";

/** What threads do: work in JavaScript and WebAssembly. One entry per task, loaded on demand. */
export const tasks = {
  generateReport: async () => (await import("./tasks/generate-report.ts")).generateReport,
  extractText: async () => (await import("./tasks/extract-text.ts")).extractText,
  recognizeText: async () => (await import("./tasks/recognize-text.ts")).recognizeText,
} satisfies TaskLoaders;

/** What has a process of its own each time: work of a native library. */
export const imageTasks = {
  transformImage: async () => (await import("./tasks/transform-image.ts")).transformImage,
  prepareForReading: async () => (await import("./tasks/prepare-for-reading.ts")).prepareForReading,
} satisfies TaskLoaders;

export type HeavyTasks = typeof tasks;
export type ImageTasks = typeof imageTasks;
