import { type Environment, parseEnv } from "@millrace/env";
import { z } from "zod";

/** OpenTelemetry's own variables, as https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ has them. Its SDK reads them. */
export const tracingEnvSchema = z.object({
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.string().optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(["grpc", "http/protobuf", "http/json"]).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.string().optional(),
  OTEL_TRACES_SAMPLER: z.string().optional(),
  OTEL_TRACES_SAMPLER_ARG: z.string().optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
});

/** Whether somebody asked for traces, and under which name the process is to appear. */
export function readTracing(source?: Environment): {
  readonly isOn: boolean;
  readonly serviceName: string | undefined;
} {
  const env = parseEnv(tracingEnvSchema, source);
  const isAskedFor = [
    env.OTEL_EXPORTER_OTLP_ENDPOINT,
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    env.OTEL_TRACES_EXPORTER,
  ].some((value) => value !== undefined);
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || env.OTEL_TRACES_EXPORTER === "none";
  return { isOn: isAskedFor && !isOff, serviceName: env.OTEL_SERVICE_NAME };
}
