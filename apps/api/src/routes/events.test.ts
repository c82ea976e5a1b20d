import { once } from "node:events";
import { connect } from "node:net";
import { createJobEventWriter, type JobEventFeed } from "@millrace/job-events";
import { createLogger } from "@millrace/logger";
import { createRedis } from "@millrace/redis";
import { closeQueues, emailContract, emailQueue, enqueue, getRedisConnection } from "@millrace/worker-config";
import { type Job, Worker } from "bullmq";
import { fastify } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer, createTestApp, expectProblem, mail, useTestApp } from "../../test/test-app.ts";
import { type Caller, decorateCaller, setCaller } from "../access/caller.ts";
import type { Callers } from "../access/callers.ts";
import { openJobFeed } from "../job-feed.ts";
import { closeUnusedConnections } from "../unused-connections.ts";
import { createWaitingRoom } from "../waiting-room.ts";
import { type EventStreamLimits, eventRoutes } from "./events.ts";

const prefix = process.env.QUEUE_PREFIX ?? "";
const redis = createRedis("worker", process.env.REDIS_URL ?? "", () => {});
const writer = createJobEventWriter({ redis, prefix });
const app = useTestApp();
let origin: string;
let worker: Worker;
let run: (job: Job) => Promise<unknown> = async () => null;

beforeAll(async () => {
  origin = await app().listen({ port: 0 });
  worker = new Worker("email", (job) => run(job), { connection: getRedisConnection("worker"), prefix });
});
afterAll(async () => {
  await worker.close();
  await Promise.all([closeQueues(), redis.quit()]);
});
/** A job that runs when it is promoted. */
async function addJob(): Promise<{ jobId: string; start: () => Promise<void> }> {
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { delayMs: 3_600_000 });
  return { jobId, start: async () => (await emailQueue.getJob(jobId))?.promote() };
}

const follow = (jobId: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`${origin}/jobs/email/${jobId}/events`, { headers: { ...bearer, ...headers }, signal: signal ?? null });

/** The text of a stream as it comes. */
async function* read(response: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) yield decoder.decode(chunk);
}

async function readAll(text: AsyncIterable<string>): Promise<string> {
  let all = "";
  for await (const part of text) all += part;
  return all;
}

const caller: Caller = { keyId: "key-1", keyName: "Ada", role: "viewer" };

/** A server of these routes alone, with limits that a test can reach. */
async function serve(
  feed: JobEventFeed,
  limits: Partial<EventStreamLimits> = {},
  withId: Callers["withId"] = async () => caller,
) {
  const closing = new AbortController();
  const server = fastify();
  // `fetch` opens connections ahead.
  closeUnusedConnections(server);
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  server.addHook("preClose", async () => closing.abort());
  decorateCaller(server);
  server.addHook("onRequest", async (request) => setCaller(request, caller));
  const following = { feed, closing: closing.signal, room: createWaitingRoom({ total: 1 }) };
  eventRoutes(server, following, { withId }, { slowReaderMs: 30_000, checkKeyEveryMs: 5_000, ...limits });
  const url = await server.listen({ port: 0 });
  return { server, url: (jobId: string) => `${url}/jobs/email/${jobId}/events` };
}

test("a job is followed as server-sent events: its state, what it says, its end", async () => {
  const { jobId, start } = await addJob();
  run = async (job) => {
    await job.updateProgress(40);
    await writer.append("email", String(job.id), { type: "token", data: "two\nlines" });
    return { messageId: "m-1" };
  };
  const response = await follow(jobId);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const text = read(response);
  expect((await text.next()).value).toMatch(/^event: status\ndata: {"jobId":".+","status":"pending",.+}\n\n$/);
  await start();
  const rest = await readAll(text);
  expect(rest).toMatch(/event: token\nid: \d+-1\ndata: "two\\nlines"\n\n/);
  expect(rest).toMatch(/event: end\nid: end\ndata: {.+"status":"success",.+"result":{"messageId":"m-1"}.+}\n\n$/);
  expect(rest).not.toContain(mail.text);
});

test("a reader that comes back goes on after the last event that it had, and after the end gets nothing", async () => {
  const { jobId, start } = await addJob();
  for (const data of ["a", "b"]) await writer.append("email", jobId, { type: "log", data });
  run = async () => null;
  await start();
  const all = await (await follow(jobId)).text();
  const [, first = ""] = /id: (\S+)\ndata: "a"/.exec(all) ?? [];
  const again = await (await follow(jobId, { "last-event-id": first })).text();
  expect(again).toContain("event: log\nid: ");
  expect(again).not.toContain('data: "a"');
  expect((await follow(jobId, { "last-event-id": "end" })).status).toBe(204);
});

test("a job that is removed ends its streams", async () => {
  const { jobId } = await addJob();
  const text = read(await follow(jobId));
  await text.next();
  await (await emailQueue.getJob(jobId))?.remove();
  expect(await readAll(text)).toBe("event: end\nid: end\ndata: null\n\n");
});

test("a job that is not there, and an event that never was, are problems", async () => {
  const ask = (url: string, headers = {}) => app().inject({ url, headers: { ...bearer, ...headers } });
  expectProblem(await ask("/jobs/email/nobody/events"), 404, "unknown_job");
  expectProblem(await ask("/jobs/nope/nobody/events"), 404, "unknown_queue");
  const { jobId } = await addJob();
  const wrong = await ask(`/jobs/email/${jobId}/events`, { "last-event-id": "MARKER" });
  expectProblem(wrong, 400, "invalid_request");
});

test("a reader that leaves makes room for another, and without room it is told to come again", async () => {
  const feed = openJobFeed(createLogger({ level: "silent", format: "json" }));
  const { server, url } = await serve(feed);
  const { jobId } = await addJob();
  const leaving = new AbortController();
  const first = await fetch(url(jobId), { signal: leaving.signal });
  expect(first.status).toBe(200);
  const second = await fetch(url(jobId));
  expect([second.status, second.headers.get("retry-after")]).toEqual([503, "5"]);
  await second.body?.cancel();
  leaving.abort();
  const askAgain = async () => {
    const { status, body } = await fetch(url(jobId));
    await body?.cancel();
    return status;
  };
  await expect.poll(askAgain).toBe(200);
  await server.close();
  feed.close();
});

test("a reader that takes nothing is cut off, and nothing is kept for it meanwhile", async () => {
  let told = 0;
  const isLetGo = Promise.withResolvers<void>();
  const endless: JobEventFeed = {
    follow: async function* () {
      try {
        for (const json = JSON.stringify("x".repeat(16_000)); ; told += 1)
          yield { kind: "event", id: "1-1", type: "log", json };
      } finally {
        isLetGo.resolve();
      }
    },
    waitForEnd: async () => undefined,
    close: () => {},
  };
  const { server, url } = await serve(endless, { slowReaderMs: 200 });
  const { jobId } = await addJob();
  const { hostname, port, pathname } = new URL(url(jobId));
  const socket = connect(Number(port), hostname).pause();
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: x\r\n\r\n`);
  await isLetGo.promise;
  // What the two ends of the connection hold, and not a megabyte more for every second.
  expect(told).toBeLessThan(1_000);
  socket.destroy();
  await server.close();
});

test("a stream ends when its key is revoked, and not because Redis cannot tell", async () => {
  let tell: () => Promise<Caller | undefined> = () => Promise.reject(new Error("no Redis"));
  const quiet: JobEventFeed = {
    follow: async function* () {
      for (;;) {
        await new Promise(setImmediate);
        yield { kind: "idle" };
      }
    },
    waitForEnd: async () => undefined,
    close: () => {},
  };
  const { server, url } = await serve(quiet, { checkKeyEveryMs: 0 }, () => tell());
  const { jobId } = await addJob();
  const text = read(await fetch(url(jobId)));
  for (let chunks = 0; chunks < 3; chunks++) expect((await text.next()).done).toBe(false);
  tell = async () => undefined;
  await readAll(text);
  await server.close();
});

test("a server that shuts down ends its streams at once", async () => {
  const other = await createTestApp();
  const address = await other.listen({ port: 0 });
  const { jobId } = await addJob();
  const response = await fetch(`${address}/jobs/email/${jobId}/events`, { headers: bearer });
  const text = read(response);
  await text.next();
  const startedAt = performance.now();
  await other.close();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(await readAll(text)).toBe("");
});
