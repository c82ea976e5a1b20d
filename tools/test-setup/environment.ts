import { randomUUID } from "node:crypto";
import { join } from "node:path";

// Test files share their process, one after the other: what the last one set is not there for the next.
const symbol = Symbol.for("millrace.test-environment");
const shared: typeof globalThis & { [symbol]?: NodeJS.ProcessEnv } = globalThis;
shared[symbol] ??= { ...process.env };
for (const name of Object.keys(process.env)) if (!(name in shared[symbol])) delete process.env[name];
Object.assign(process.env, shared[symbol]);

// Keys of its own for every test file: files run side by side, and the Redis may be one that somebody uses.
process.env.QUEUE_PREFIX = `{test-${randomUUID()}}`;
process.env.LOG_LEVEL ??= "silent";
// Tests start a hundred processes, and most of such a start is reading the same sources again.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../../node_modules/.cache/node");
