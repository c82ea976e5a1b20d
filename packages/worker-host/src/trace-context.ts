import { randomBytes } from "node:crypto";
import type { Enqueue } from "./job-context.ts";

const traceparentPattern = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The job's `meta.traceparent` where it is one (https://www.w3.org/TR/trace-context/), else the beginning of a new trace. */
export function traceparentOf(meta: Readonly<Record<string, unknown>> | undefined): string {
  const given = meta?.traceparent;
  if (typeof given === "string" && traceparentPattern.test(given)) return given;
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}

/** An `enqueue` whose jobs belong to the trace, unless the caller names another. */
export function withinTrace(enqueue: Enqueue, traceparent: string): Enqueue {
  return (contract, action, data, options) =>
    enqueue(contract, action, data, { ...options, meta: { traceparent, ...options?.meta } });
}
