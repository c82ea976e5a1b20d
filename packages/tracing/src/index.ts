export type { AttemptEnd, TracedAttempt } from "./attempt-spans.ts";
export { readTracing, tracingEnvSchema } from "./env.ts";
export type { RequestSpan, TracedRequest } from "./request-spans.ts";
export { startTracing, type Tracing } from "./start-tracing.ts";
