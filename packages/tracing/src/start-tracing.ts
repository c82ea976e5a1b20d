import type { Logger } from "@millrace/logger";
import { readTracing } from "./env.ts";
import type { Tracing } from "./tracing.ts";

/**
 * Starts tracing where the environment asks for it: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or
 * `OTEL_TRACES_EXPORTER` is set, and `OTEL_SDK_DISABLED` is not `true`. Otherwise nothing is loaded, and there is nothing to pass on.
 *
 * From then on each `enqueue` of this process is traced as well. Once per process.
 *
 * @param defaultName the process's name in traces where `OTEL_SERVICE_NAME` gives none
 * @throws EnvironmentError when a variable is wrong
 */
export async function startTracing(defaultName: string, log: Logger): Promise<Tracing | undefined> {
  const { isOn, serviceName } = readTracing();
  if (!isOn) return undefined;
  const { startSdk } = await import("./start-sdk.ts");
  return startSdk(serviceName ?? defaultName, log);
}
