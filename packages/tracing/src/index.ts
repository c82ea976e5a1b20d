export type { AttemptEnd, TracedAttempt } from "./attempt-spans.ts";
export { readTracing, tracingEnvSchema } from "./env.ts";
export type { RequestSpan, TracedRequest } from "./request-spans.ts";
export { startTracing } from "./start-tracing.ts";
export type { Tracing } from "./tracing.ts";
