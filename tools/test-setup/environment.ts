import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { closeQueues } from "@millrace/worker-config";
import { afterAll, vi } from "vitest";

// Files share a process, one after the other. What one leaves in the environment, or of a clock, must not be the next one's.
vi.unstubAllEnvs();
vi.restoreAllMocks();
vi.useRealTimers();
globalThis.untouchedEnvironment ??= { ...process.env };
const untouched = globalThis.untouchedEnvironment;
for (const name of Object.keys(process.env)) if (!(name in untouched)) delete process.env[name];
Object.assign(process.env, untouched);

// Keys of its own for every test file: files run side by side, and the Redis may be one that somebody uses.
process.env.QUEUE_PREFIX = `{test-${randomUUID()}}`;
process.env.LOG_LEVEL ??= "silent";
// Tests start a hundred processes, and most of such a start is reading the same sources again.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../../node_modules/.cache/node");

// A queue that stayed open would be the next file's, with the keys of this one. Hooks of a set-up file run after the file's own.
afterAll(closeQueues);

declare global {
  // `globalThis` has no type for what is declared otherwise.
  var untouchedEnvironment: NodeJS.ProcessEnv | undefined;
}
