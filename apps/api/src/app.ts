import type { Database } from "@millrace/database";
import type { FileStore } from "@millrace/file-store";
import type { Logger } from "@millrace/logger";
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { authenticate } from "./authenticate.ts";
import { handleError, sendProblem } from "./problem.ts";
import { agentApprovalRoutes } from "./routes/agent-approvals.ts";
import { cancelRoutes } from "./routes/cancel.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { collectOpenApi, documentationRoutes } from "./routes/documentation.ts";
import { emailDigestItemRoutes } from "./routes/email-digest-items.ts";
import { emailSuppressionRoutes } from "./routes/email-suppressions.ts";
import { emailTemplateRoutes } from "./routes/email-templates.ts";
import { exampleRoutes } from "./routes/examples.ts";
import { fileRoutes } from "./routes/files.ts";
import { healthRoutes } from "./routes/health.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { produceRoutes } from "./routes/produce.ts";
import type { ScheduleLimits } from "./routes/schedule-request.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookEndpointRoutes } from "./routes/webhook-endpoints.ts";
import { webhookOperationRoutes } from "./routes/webhook-operations.ts";

export interface AppOptions {
  readonly apiKeys: readonly string[];
  /** The largest payload that an enqueue takes, in bytes. */
  readonly maxPayloadBytes: number;
  /** Whether webhook endpoints may be in private networks, as WEBHOOK_ALLOW_PRIVATE. Defaults to false. */
  readonly allowPrivateEndpoints?: boolean;
  readonly scheduleLimits: ScheduleLimits;
  /** What is kept beside the jobs. While it is away, whatever needs it answers 503, and the rest works. */
  readonly database: Database;
  /** Where uploads go. The app does not close it. */
  readonly files: FileStore;
  readonly log: Logger;
}

/** The API as a value: no port, no process, no environment. Tests inject requests into it. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { apiKeys, maxPayloadBytes, scheduleLimits, database, files, allowPrivateEndpoints = false, log } = options;
  // Under its own wider type, or every plugin would have to name our logger.
  const loggerInstance: FastifyBaseLogger = log;
  const app = fastify({
    loggerInstance,
    // One line per request, at its end: see below.
    logController: new LogController({ disableRequestLogging: true }),
    // Room for the payload as JSON may write it (escapes) and its options; the enqueue then measures the payload itself.
    bodyLimit: maxPayloadBytes * 6 + 16_384,
    // The dashboard asks Redis without a deadline of its own; whatever waits longer is waiting for Redis.
    handlerTimeout: 5_000,
    // A job's id may hold 250 characters, each percent-encoded.
    routerOptions: { maxParamLength: 750 },
    // A path that cannot be decoded, or too long a part of it, never reaches the error handler below.
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    // The enqueue refuses such keys and names the field, which the parser's own refusal does not.
    onProtoPoisoning: "ignore",
    onConstructorPoisoning: "ignore",
  });
  app.addHook("onResponse", async ({ log: requestLog, method, url }, { statusCode, elapsedTime }) => {
    requestLog.info(
      { method, path: url.split("?")[0], status: statusCode, durationMs: Math.round(elapsedTime) },
      "request",
    );
  });
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
  });
  // A request under way when the close began would leave its connection open, and the close waits for connections.
  app.addHook("onSend", async (_, reply) => {
    if (isClosing) reply.header("connection", "close");
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(handleError);
  app.setNotFoundHandler((request, reply) =>
    sendProblem(reply, {
      status: 404,
      title: "Not found",
      code: "not_found",
      detail: `There is no ${request.method} ${request.url.split("?")[0]}. /openapi.json lists what there is.`,
    }),
  );
  healthRoutes(app, database);
  await collectOpenApi(app);
  await app.register(async (programs) => {
    programs.addHook("onRequest", authenticate(apiKeys, { allowBasic: false }));
    produceRoutes(programs);
    jobRoutes(programs);
    cancelRoutes(programs);
    webhookEndpointRoutes(programs, database, { allowPrivate: allowPrivateEndpoints });
    webhookOperationRoutes(programs, database);
    webhookDeliveryRoutes(programs, database);
    agentApprovalRoutes(programs, database);
    scheduleRoutes(programs, scheduleLimits);
    fileRoutes(programs, files);
    emailTemplateRoutes(programs, database);
    emailSuppressionRoutes(programs, database);
    emailDigestItemRoutes(programs, database);
  });
  await app.register(async (people) => {
    people.addHook("onRequest", authenticate(apiKeys, { allowBasic: true }));
    await documentationRoutes(people);
    exampleRoutes(people);
    await dashboardRoutes(people);
  });
  return app;
}
