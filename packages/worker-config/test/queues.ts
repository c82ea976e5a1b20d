import { randomUUID } from "node:crypto";
import { afterEach, beforeEach } from "vitest";
import { closeQueues } from "../src/index.ts";

/** Every test of the file gets empty queues of its own, and leaves none open. */
export function useFreshQueues(): void {
  beforeEach(() => {
    process.env.QUEUE_PREFIX = `{test-${randomUUID()}}`;
  });
  afterEach(closeQueues);
}

export const mail = { to: "ada@example.com", subject: "Hello", text: "Hello, Ada." };

/** The same mail as plain `add` takes it. */
export const mailJob = { type: "sendEmail" as const, data: mail };
