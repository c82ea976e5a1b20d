import { randomUUID } from "node:crypto";

// Keys of its own for every test file: files run side by side, and the Redis may be one that somebody uses.
process.env.QUEUE_PREFIX = `{test-${randomUUID()}}`;
process.env.LOG_LEVEL ??= "silent";
