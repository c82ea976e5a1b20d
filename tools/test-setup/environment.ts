import { randomUUID } from "node:crypto";
import { join } from "node:path";

// Keys of its own for every test file: files run side by side, and the Redis may be one that somebody uses.
process.env.QUEUE_PREFIX = `{test-${randomUUID()}}`;
process.env.LOG_LEVEL ??= "silent";
// Tests start a hundred processes, and most of such a start is reading the same sources again.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../../node_modules/.cache/node");
