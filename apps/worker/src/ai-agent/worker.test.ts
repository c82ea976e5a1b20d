import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { useDatabase } from "@millrace/database/testing";
import { findJob } from "@millrace/job-admin";
import { createLogger } from "@millrace/logger";
import {
  aiAgentContract,
  aiAgentQueue,
  closeQueues,
  enqueue,
  getRedisConnection,
  readQueueEnv,
} from "@millrace/worker-config";
import { type RunningWorker, startWorker } from "@millrace/worker-host";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { aiAgentHandlers } from "./handlers.ts";
import { useAgentDomain } from "./test/domain.ts";
import { calls, type ModelReply, type ScriptedModel, says, startScriptedModel } from "./test/scripted-model.ts";

const { url: databaseUrl, database } = useDatabase();
const { parts } = useAgentDomain(database, () => model.baseUrl);
const times = { lockDurationMs: 1_500, stalledIntervalMs: 750 };
const workers: RunningWorker[] = [];
const running: ChildProcess[] = [];
const hits: string[] = [];
const site = createServer(({ url = "" }, response) => {
  hits.push(url);
  response.writeHead(200, { "content-type": "text/plain" }).end("A page.");
});
let model: ScriptedModel;
let pageUrl = "";

beforeAll(async () => {
  model = await startScriptedModel();
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const address = site.address();
  pageUrl = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
  for (const child of running.splice(0)) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await aiAgentQueue.obliterate({ force: true });
  await closeQueues();
});

/** The real process. */
async function startProcess(): Promise<{ child: ChildProcess; exited: Promise<unknown> }> {
  const env = {
    REDIS_URL: process.env.REDIS_URL,
    DATABASE_URL: databaseUrl(),
    QUEUE_PREFIX: readQueueEnv().QUEUE_PREFIX,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    FILE_STORE_URL: pathToFileURL(join(tmpdir(), "millrace-never-used")).href,
    AI_BASE_URL: model.baseUrl,
    AI_MODEL: "scripted",
    AI_FETCH_ALLOW_PRIVATE: "true",
    WORKER_LOCK_DURATION_MS: String(times.lockDurationMs),
    WORKER_STALLED_INTERVAL_MS: String(times.stalledIntervalMs),
  };
  const main = fileURLToPath(new URL("./worker.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=millrace-source", main], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => void lines.push(JSON.parse(line).msg));
  await expect.poll(() => lines, { timeout: 40_000 }).toContain("worker ready");
  return { child, exited: once(child, "exit") };
}

/** Takes up what the dead process left, in this one. */
async function goOnHere(): Promise<void> {
  const worker = startWorker(aiAgentContract, aiAgentHandlers(parts()), {
    connection: getRedisConnection("worker"),
    prefix: readQueueEnv().QUEUE_PREFIX,
    concurrency: 1,
    log: createLogger({ level: "silent" }),
    ...times,
  });
  workers.push(worker);
  await worker.untilReady();
}

test("an agent that is killed between two tool calls goes on elsewhere, asks for nothing again and calls no tool twice", async () => {
  const asked = Promise.withResolvers<void>();
  const isAsked: ModelReply = () => asked.resolve();
  model.script(
    calls(["fetchPage", { url: `${pageUrl}/one` }]),
    isAsked,
    calls(["fetchPage", { url: `${pageUrl}/two` }]),
    says("Both read."),
  );
  const { child, exited } = await startProcess();
  const { jobId } = await enqueue(aiAgentContract, "runAgent", { prompt: "Read both." }, { jobId: randomUUID() });
  // The first tool is done, and what it came to is with the model, whose answer never comes.
  await asked.promise;
  expect(hits).toEqual(["/one"]);
  child.kill("SIGKILL");
  await exited;
  await goOnHere();
  const job = () => findJob("aiAgent", jobId);
  await expect
    .poll(job, { timeout: 20_000 })
    .toMatchObject({ status: "success", result: { text: "Both read.", steps: 3 } });
  expect(hits).toEqual(["/one", "/two"]);
  // The first question once, the second by both processes, the third once.
  expect(model.requests().map(({ messages }) => messages.length)).toEqual([1, 3, 3, 5]);
  // Most of it is the start of a whole process.
}, 60_000);
