import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createLogger } from "@millrace/logger";
import { startTracing } from "@millrace/tracing";
import { closeQueues, getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { defineQueue, emailContract } from "@millrace/worker-config/contracts";
import { startWorker } from "@millrace/worker-host";
import { trace } from "@opentelemetry/api";
import { afterEach, expect, test, vi } from "vitest";
import { bearer, createTestApp, mail } from "../apps/api/test/test-app.ts";
import { startTraceCollector } from "./test-support/trace-collector.ts";
import { root } from "./workers.ts";

const log = createLogger({ level: "silent" });
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  vi.unstubAllEnvs();
});

// One action of it: what others email has is not asked for here.
const contract = defineQueue("email", { sendEmail: emailContract.actions.sendEmail });

/** An email worker whose first attempt of a mail fails, and whose handler traces something of its own and adds a job. */
async function work(tracing: Awaited<ReturnType<typeof startTracing>>) {
  const traceparents: string[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const worker = startWorker(
    contract,
    {
      sendEmail: async (_, { attempt, traceparent, enqueue, jobId }) => {
        traceparents.push(traceparent);
        if (attempt === 1) throw new Error("not yet");
        await trace.getTracer("handler").startActiveSpan("render", async (span) => span.end());
        if (jobId === "parent") await enqueue(emailContract, "sendEmail", mail, { jobId: "child", delayMs: 3_600_000 });
        resolve();
        return { messageId: "m" };
      },
    },
    { connection: getRedisConnection("worker"), prefix: readQueueEnv().QUEUE_PREFIX, concurrency: 1, log, tracing },
  );
  cleanUps.push(closeQueues, () => worker.stop(5_000));
  await worker.untilReady();
  return { worker, done, traceparents };
}

test("OpenTelemetry's SDK is not loaded until somebody asks for traces", async () => {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ resolve: (name, context, next) => {
      if (name.includes("opentelemetry")) loaded.push(name);
      return next(name, context);
    } });
    const { startTracing } = await import("@millrace/tracing");
    await import("@millrace/worker-host");
    await startTracing("test");
    process.stdout.write(JSON.stringify(loaded));`;
  const args = ["--conditions=millrace-source", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  // prom-client brings the interface along, which does nothing by itself.
  expect(JSON.parse(stdout).filter((name: string) => name !== "@opentelemetry/api")).toEqual([]);
});

test("without a variable that asks for traces none is made, and a job's traceparent goes on as it is", async () => {
  const tracing = await startTracing("test", log);
  expect(tracing).toBeUndefined();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
  vi.stubEnv("OTEL_SDK_DISABLED", "true");
  expect(await startTracing("test", log)).toBeUndefined();
  const app = await createTestApp();
  cleanUps.push(() => app.close());
  const { done, traceparents } = await work(tracing);
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const options = { jobId: "untraced", retryIntervalsMs: [1], meta: { traceparent } };
  await app.inject({ method: "POST", url: "/jobs/email/sendEmail", headers: bearer, payload: { data: mail, options } });
  await done;
  expect(traceparents).toEqual([traceparent, traceparent]);
});

test("one trace leads from the request through Redis to each attempt and to what the handler does", async () => {
  const collector = await startTraceCollector();
  cleanUps.push(collector.close);
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url);
  vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
  const tracing = await startTracing("millrace-test", log);
  const app = await createTestApp({ tracing });
  cleanUps.push(() => app.close());
  const { worker, done } = await work(tracing);
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { ...bearer, traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const options = { jobId: "parent", retryIntervalsMs: [1] };
  const url = "/jobs/email/sendEmail";
  await app.inject({ method: "POST", url, headers, payload: { data: mail, options } });
  await app.inject({ url: "/livez", headers });
  await app.inject({ method: "POST", url, headers, payload: { data: {}, options } });
  await done;
  await worker.stop(5_000);
  await tracing?.close();

  const { spans } = collector;
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(["millrace-test"]));
  const [request, refused] = spans.filter(({ name }) => name === "POST /jobs/email/sendEmail");
  expect(request).toMatchObject({
    parentSpanId: "00f067aa0ba902b7",
    kind: 2,
    attributes: { "http.response.status_code": 202 },
    isError: false,
  });
  // The caller's fault, not ours.
  expect(refused).toMatchObject({ attributes: { "http.response.status_code": 400 }, isError: false });
  const [added, notAdded, addedChild] = ["parent", undefined, "child"].map((jobId) =>
    spans.find(({ name, attributes }) => name === "add email" && attributes["messaging.message.id"] === jobId),
  );
  expect(added).toMatchObject({ parentSpanId: request?.spanId, kind: 4, isError: false });
  expect(notAdded).toMatchObject({
    parentSpanId: refused?.spanId,
    attributes: { "error.type": "invalid_data" },
    isError: true,
  });
  const attempts = spans.filter(({ name }) => name === "process email");
  const consumer = { parentSpanId: added?.spanId, kind: 5 };
  expect(attempts).toMatchObject([
    { ...consumer, isError: true, attributes: { "millrace.job.attempt": 1, "error.type": "handler_error" } },
    {
      ...consumer,
      isError: false,
      attributes: {
        "messaging.system": "bullmq",
        "messaging.destination.name": "email",
        "messaging.message.id": "parent",
        "millrace.job.action": "sendEmail",
        "millrace.job.outcome": "completed",
      },
    },
  ]);
  expect(spans.find(({ name }) => name === "render")).toMatchObject({ parentSpanId: attempts[1]?.spanId });
  expect(addedChild).toMatchObject({ parentSpanId: attempts[1]?.spanId });
  expect(collector.received.join("")).not.toMatch(/MARKER|bob@example\.com/);
});

test("a collector that is away costs the traces, and holds nothing up", async () => {
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
  const lines: { code?: string }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const tracing = await startTracing("test", createLogger({ level: "warn", format: "json", destination: { write } }));
  tracing?.startRequest({ method: "GET", route: "/", traceparent: undefined }).end(200);
  const startedAt = performance.now();
  await tracing?.close();
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  expect(lines).toMatchObject([{ code: "traces_lost" }]);
});
