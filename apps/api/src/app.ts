import { randomUUID } from "node:crypto";
import { createKeyVerifier } from "@millrace/access";
import { remember } from "@millrace/health";
import { readRedisMemory } from "@millrace/job-admin";
import { createHttpMetrics, createQueueMetrics, createRedisMetrics, createRegistry } from "@millrace/metrics";
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { auditOperations } from "./access/audit.ts";
import { authenticate, type Door } from "./access/authenticate.ts";
import { decorateCaller } from "./access/caller.ts";
import { createCallers } from "./access/callers.ts";
import { createFailureLimit } from "./access/failure-limit.ts";
import { requireRouteAccess } from "./access/route-access.ts";
import { createSessions } from "./access/sessions.ts";
import type { AppOptions } from "./app-options.ts";
import { handleError, sendProblem } from "./problem.ts";
import { readQueueFigures } from "./queue-figures.ts";
import { readJson } from "./read-json.ts";
import { keepDeadlines } from "./request-deadline.ts";
import { agentApprovalRoutes } from "./routes/agent-approvals.ts";
import { agentRunRoutes } from "./routes/agent-runs.ts";
import { auditRoutes } from "./routes/audit.ts";
import { bulkRoutes } from "./routes/bulk.ts";
import { cancelRoutes } from "./routes/cancel.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { deadLetterRoutes } from "./routes/dead-letters.ts";
import { collectOpenApi, documentationRoutes } from "./routes/documentation.ts";
import { emailDigestItemRoutes } from "./routes/email-digest-items.ts";
import { emailSuppressionRoutes } from "./routes/email-suppressions.ts";
import { emailTemplateRoutes } from "./routes/email-templates.ts";
import { eventRoutes } from "./routes/events.ts";
import { exampleRoutes } from "./routes/examples.ts";
import { fileRoutes, longestUploadMs } from "./routes/files.ts";
import { healthRoutes } from "./routes/health.ts";
import { homeRoutes } from "./routes/home.ts";
import { jobListRoutes } from "./routes/job-list.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { keyRoutes } from "./routes/keys.ts";
import { loginRoutes } from "./routes/login.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { operateJobRoutes } from "./routes/operate-job.ts";
import { ownerRoutes } from "./routes/owners.ts";
import { produceRoutes } from "./routes/produce.ts";
import { quarantineRoutes } from "./routes/quarantine.ts";
import { queueRoutes } from "./routes/queues.ts";
import { scheduleOperationRoutes } from "./routes/schedule-operations.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { statsRoutes } from "./routes/stats.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookEndpointRoutes } from "./routes/webhook-endpoints.ts";
import { webhookOperationRoutes } from "./routes/webhook-operations.ts";
import { workerRoutes } from "./routes/workers.ts";
import { securityHeaders } from "./security-headers.ts";
import { traceRequests } from "./trace-requests.ts";
import { closeUnusedConnections } from "./unused-connections.ts";
import { createWaitingRoom } from "./waiting-room.ts";
import { watchRequests } from "./watch-requests.ts";

// Scrapes and probes of the same second ask Redis once, and the metrics of one scrape agree with each other.
const keepFiguresMs = 1_000;

/** The API as a value: no port, no process, no environment. Tests inject requests into it. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { apiKeys, maxPayloadBytes, scheduleLimits, database, files, feed, directory, log } = options;
  const { allowPrivateEndpoints = false, hstsSeconds = 0, auditKeepDays = 365, maxWrongKeys = 20 } = options;
  const { sessionSecret, isProduction = false, trustProxy, requestTimeoutMs = 5_000 } = options;
  const { queueLimits = { maxDepth: 10_000, maxDeadLetters: 100 } } = options;
  // Under its own wider type, or every plugin would have to name our logger.
  const loggerInstance: FastifyBaseLogger = log;
  const app = fastify({
    loggerInstance,
    trustProxy: trustProxy ?? false,
    // In the log, in the answer and in the audit log, over all processes.
    genReqId: () => randomUUID(),
    // One line per request, at its end: see below.
    logController: new LogController({ disableRequestLogging: true }),
    // Room for the payload as JSON may write it (escapes) and its options; the enqueue then measures the payload itself.
    bodyLimit: maxPayloadBytes * 6 + 16_384,
    // Beyond the slowest upload, which has a time of its own; a body that a route reads at once has `handlerTimeout` for it. Whoever was answered
    // before, as without a key, keeps the connection no longer than this by sending on.
    requestTimeout: longestUploadMs + 60_000,
    // The dashboard asks Redis without a deadline of its own; whatever waits longer is waiting for Redis.
    handlerTimeout: requestTimeoutMs,
    // What still comes over an open connection while the server closes is answered as ever, and its connection closed: see below.
    return503OnClosing: false,
    // A job's id may hold 250 characters, each percent-encoded.
    routerOptions: { maxParamLength: 750 },
    // A path that cannot be decoded, or too long a part of it, never reaches the error handler below.
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
  });
  readJson(app);
  const registry = createRegistry();
  watchRequests(app, createHttpMetrics(registry));
  closeUnusedConnections(app);
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  // A request under way when the close began would leave its connection open, and the close waits for connections.
  app.addHook("onSend", async ({ id }, reply) => {
    reply.header("x-request-id", id);
    if (closing.signal.aborted) reply.header("connection", "close");
  });
  app.addHook("onSend", securityHeaders(hstsSeconds));
  const following = { feed, closing: closing.signal, room: createWaitingRoom(options.waitLimits) };
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
  if (options.tracing) traceRequests(app, options.tracing);
  requireRouteAccess(app);
  decorateCaller(app);
  const door: Door = {
    callers: createCallers(apiKeys, createKeyVerifier()),
    failures: createFailureLimit(maxWrongKeys),
    sessions: sessionSecret === undefined ? undefined : createSessions(sessionSecret, { isSecure: isProduction }),
  };
  app.addHook("onRequest", authenticate(door));
  keepDeadlines(app);
  auditOperations(app, database, auditKeepDays);
  const readQueues = remember(readQueueFigures, keepFiguresMs);
  createQueueMetrics(registry, readQueues);
  createRedisMetrics(registry, remember(readRedisMemory, keepFiguresMs));
  const { isWedged = () => false } = options;
  healthRoutes(app, { database, files, readQueues, limits: queueLimits, isWedged, closing: closing.signal });
  homeRoutes(app);
  await collectOpenApi(app);
  await app.register(async (programs) => {
    metricsRoutes(programs, registry);
    produceRoutes(programs, following);
    bulkRoutes(programs, { maxPayloadBytes });
    jobRoutes(programs, following);
    jobListRoutes(programs);
    eventRoutes(programs, following, door.callers);
    statsRoutes(programs);
    cancelRoutes(programs);
    operateJobRoutes(programs);
    queueRoutes(programs, following);
    workerRoutes(programs);
    deadLetterRoutes(programs, following);
    quarantineRoutes(programs);
    ownerRoutes(programs, directory);
    webhookEndpointRoutes(programs, database, { allowPrivate: allowPrivateEndpoints });
    webhookOperationRoutes(programs, database);
    webhookDeliveryRoutes(programs, database);
    agentApprovalRoutes(programs, database);
    agentRunRoutes(programs, database);
    scheduleRoutes(programs, scheduleLimits);
    scheduleOperationRoutes(programs);
    fileRoutes(programs, files);
    emailTemplateRoutes(programs, database);
    emailSuppressionRoutes(programs, database);
    emailDigestItemRoutes(programs, database);
    keyRoutes(programs);
    auditRoutes(programs, database);
  });
  await app.register(async (people) => {
    await documentationRoutes(people);
    exampleRoutes(people);
  });
  await app.register(dashboardRoutes);
  await app.register(async (scope) => loginRoutes(scope, door));
  return app;
}
