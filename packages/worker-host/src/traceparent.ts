import { randomBytes } from "node:crypto";

const traceparentPattern = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The job's `meta.traceparent` where it is one (https://www.w3.org/TR/trace-context/), else the beginning of a new trace. */
export function traceparentOf(meta: Readonly<Record<string, unknown>> | undefined): string {
  const given = meta?.traceparent;
  if (typeof given === "string" && traceparentPattern.test(given)) return given;
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}
