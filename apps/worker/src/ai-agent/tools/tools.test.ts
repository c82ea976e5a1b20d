import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { createSafeClient } from "@millrace/safe-http";
import { aiAgentContract, closeQueues, emailContract, emailQueue, enqueue } from "@millrace/worker-config";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCalculate } from "./calculate.ts";
import { createFetchPage } from "./fetch-page.ts";
import { createLookUpJob } from "./look-up-job.ts";

const call = (workspaceId?: string) => ({
  ...{ runId: "run", callKey: "run/0/0", workspaceId },
  signal: new AbortController().signal,
});
const pages: Record<string, (response: ServerResponse) => unknown> = {
  "/moved": (response) => response.writeHead(302, { location: "http://127.0.0.1:1/secret" }).end(),
  "/image": (response) => response.writeHead(200, { "content-type": "image/png" }).end("PNG"),
  "/long": (response) => response.writeHead(200, { "content-type": "text/plain" }).end("x".repeat(600_000)),
};
const site = createServer((request, response) => pages[request.url ?? ""]?.(response));
let origin = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const address = site.address();
  origin = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await emailQueue.obliterate({ force: true });
  await closeQueues();
});

test.each([
  ["1240 * 17.5 / 100", 217],
  ["0.1 + 0.2", 0.3],
  ["2 ^ 10 - 5!", 904],
  ["round(sqrt(2) * 1000)", 1414],
  ["max(3, 7) % 4", 3],
])("%s is %d", async (expression, value) => {
  expect(await createCalculate().call({ expression }, call())).toEqual({ value });
});

test.each([
  "1 / 0",
  "x + 1",
  "f(x) = x",
  "a = 5",
  '"a"',
  "[1, 2]",
  "constructor",
  "map(sqrt, 1)",
  "1 +",
  "(".repeat(500),
])("%j is no arithmetic, and the model is told so", async (expression) => {
  await expect(createCalculate().call({ expression }, call())).rejects.toThrow(/arithmetic expression/);
});

test("a redirect is told and not followed, what is no text is refused, and a long page is cut", async () => {
  const fetchPage = createFetchPage(createSafeClient({ allowPrivate: true }));
  expect(await fetchPage.call({ url: `${origin}/moved` }, call())).toEqual({
    status: 302,
    location: "http://127.0.0.1:1/secret",
  });
  await expect(fetchPage.call({ url: `${origin}/image` }, call())).rejects.toThrow(/no text/);
  const long = await fetchPage.call({ url: `${origin}/long` }, call());
  expect(long).toMatchObject({ text: "x".repeat(20_000), isTruncated: true });
});

test("pages of this network are not read where nobody allowed it", async () => {
  const fetchPage = createFetchPage(createSafeClient());
  await expect(fetchPage.call({ url: `${origin}/long` }, call())).rejects.toThrow(/could not be read/);
});

test("a job is told to a run of its own workspace, and to no other", async () => {
  const workspaceId = randomUUID();
  const mail = { to: "ada@example.com", subject: "Hello", text: "It works." };
  const add = async (data: object) =>
    (await enqueue(emailContract, "sendEmail", { ...mail, ...data }, { jobId: randomUUID() })).jobId;
  const [theirs, nobodys] = [await add({ workspaceId }), await add({})];
  const look = (jobId: string, asker?: string) => createLookUpJob().call({ queue: "email", jobId }, call(asker));
  expect(await look(theirs, workspaceId)).toMatchObject({ jobId: theirs, action: "sendEmail", status: "pending" });
  expect(await look(nobodys)).toMatchObject({ status: "pending" });
  for (const [jobId, asker] of [
    [theirs, randomUUID()],
    [theirs, undefined],
    [nobodys, workspaceId],
  ] as const) {
    await expect(look(jobId, asker)).rejects.toThrow("There is no such job.");
  }
});

test("a job whose record is damaged is none for a model", async () => {
  const mail = { to: "ada@example.com", subject: "Hello", text: "It works." };
  const { jobId } = await enqueue(emailContract, "sendEmail", mail, { jobId: randomUUID() });
  await (await emailQueue.getBackend().client).hset(emailQueue.toKey(jobId), { opts: "{" });
  await expect(createLookUpJob().call({ queue: "email", jobId }, call())).rejects.toThrow("There is no such job.");
});

test.each([
  ["a pattern", { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } }],
  ["a reference", { type: "object", properties: { a: { $ref: "#/properties/b" } } }],
  ["another type", { type: "string" }],
  ["too much", { type: "object", description: "x".repeat(10_000) }],
])("a schema for an answer with %s is refused before the job is added", (_, output) => {
  const { data } = aiAgentContract.actions.runAgent;
  expect(data.safeParse({ prompt: "Go.", output }).success).toBe(false);
  const named = { type: "object", properties: { pattern: { type: "string" } } };
  expect(data.safeParse({ prompt: "Go.", output: named }).success).toBe(true);
});
