import { randomBytes } from "node:crypto";

const traceparentPattern = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The `meta.traceparent` of a job's data as it is stored, unchecked. */
export function storedTraceparent(data: unknown): string | undefined {
  const meta = fieldOf(data, "meta");
  const given = fieldOf(meta, "traceparent");
  return typeof given === "string" ? given : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** The job's `meta.traceparent` where it is one (https://www.w3.org/TR/trace-context/), else the beginning of a new trace. */
export function traceparentOf(meta: Readonly<Record<string, unknown>> | undefined): string {
  const given = meta?.traceparent;
  if (typeof given === "string" && traceparentPattern.test(given)) return given;
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}
