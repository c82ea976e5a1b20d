import { agentRunId, beginAgentToolCall, endAgentToolCall, openAgentRun, recordAgentStep } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { aiAgentContract, aiAgentQueue, enqueue } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { bearer, expectProblem, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));

afterAll(async () => {
  await aiAgentQueue.obliterate({ force: true });
});
const read = (url: string, headers = bearer) => app().inject({ url, headers });

/** A run of two steps, as a worker leaves it while the second tool is under way. */
async function run(jobId: string, workspaceId: string, createdAt = new Date(1_000)): Promise<void> {
  const id = agentRunId({ queue: "aiAgent", jobId, createdAt });
  await openAgentRun(database(), { id, queue: "aiAgent", jobId, action: "runAgent", workspaceId });
  const used = { inputTokens: 100, outputTokens: 10, costUsd: 0.5, durationMs: 200 };
  const tools = ["fetchPage", "lookUpJob"].map((tool) => ({ callId: tool, tool, input: { url: "MARKER" } }));
  const answer = { text: "MARKER", toolCalls: tools, messages: [], finishReason: "tool-calls" };
  for (const step of [0, 1]) {
    await recordAgentStep(database(), id, { step, response: JSON.stringify(answer), ...used });
  }
  const call = { runId: id, step: 0 };
  await beginAgentToolCall(database(), { ...call, position: 0, tool: "fetchPage" });
  await beginAgentToolCall(database(), { ...call, position: 1, tool: "lookUpJob" });
  await endAgentToolCall(database(), { ...call, position: 0 }, { output: '{"refusal":"MARKER"}', durationMs: 30 });
}

const addJob = async (workspaceId: string) => {
  const { jobId } = await enqueue(aiAgentContract, "runAgent", { prompt: "MARKER", workspaceId });
  const job = await aiAgentQueue.getJob(jobId);
  return { jobId, createdAt: new Date(job?.timestamp ?? 0) };
};

test("a run tells its steps, its tools, its tokens, its cost and its job's status, and not a word that was said", async () => {
  const workspaceId = crypto.randomUUID();
  const { jobId, createdAt } = await addJob(workspaceId);
  await run(jobId, workspaceId, createdAt);
  const response = await read(`/agent/runs/aiAgent/${jobId}`);
  expect(response.json()).toMatchObject({
    ...{ queue: "aiAgent", jobId, action: "runAgent", workspaceId, status: "pending" },
    usage: { inputTokens: 200, outputTokens: 20, costUsd: 1 },
    steps: [
      {
        ...{ step: 0, finishReason: "tool-calls", inputTokens: 100, outputTokens: 10, costUsd: 0.5, durationMs: 200 },
        toolCalls: [
          { position: 0, tool: "fetchPage", state: "refused", durationMs: 30 },
          { position: 1, tool: "lookUpJob", state: "begun", durationMs: null },
        ],
      },
      { step: 1, toolCalls: [] },
    ],
  });
  const listed = await read(`/agent/runs?workspaceId=${workspaceId}`);
  const usage = { inputTokens: 200, outputTokens: 20, costUsd: 1 };
  expect(listed.json().items).toMatchObject([{ jobId, status: "pending", steps: 2, toolCalls: 2, usage }]);
  expect(response.body + listed.body).not.toContain("MARKER");
});

test("a run whose job is gone is still there, and a job that took over its id is not mistaken for it", async () => {
  const workspaceId = crypto.randomUUID();
  const { jobId } = await addJob(workspaceId);
  for (const gone of [jobId, "gone"]) {
    await run(gone, workspaceId);
    expect((await read(`/agent/runs/aiAgent/${gone}`)).json()).toMatchObject({ jobId: gone, status: null });
  }
  const { items: runs } = (await read(`/agent/runs?workspaceId=${workspaceId}`)).json();
  expect(runs).toMatchObject([
    { jobId: "gone", status: null },
    { jobId, status: null },
  ]);
});

test("the list goes page by page, newest first, and misses none", async () => {
  const workspaceId = crypto.randomUUID();
  for (const jobId of ["first", "second", "third"]) await run(`${workspaceId}-${jobId}`, workspaceId);
  const page = async (query: string) => (await read(`/agent/runs?workspaceId=${workspaceId}&limit=2${query}`)).json();
  const newest = await page("");
  const older = await page(`&cursor=${encodeURIComponent(newest.nextCursor)}`);
  const found = [...newest.items, ...older.items].map(({ jobId }) => jobId.split("-").at(-1));
  expect([found, older.nextCursor]).toEqual([["third", "second", "first"], null]);
});

test("what was said is for operators, and each look leaves a row in the audit log", async () => {
  const [workspaceId, jobId] = [crypto.randomUUID(), crypto.randomUUID()];
  await run(jobId, workspaceId);
  const url = `/agent/runs/aiAgent/${jobId}/messages`;
  expect((await read(url)).json().steps[0]).toEqual({
    step: 0,
    text: "MARKER",
    toolCalls: [
      { tool: "fetchPage", input: { url: "MARKER" }, output: { refusal: "MARKER" } },
      { tool: "lookUpJob", input: { url: "MARKER" }, output: null },
    ],
  });
  const { items } = (await read("/audit?action=agent.read-messages")).json();
  expect(items).toMatchObject([{ action: "agent.read-messages", target: { queue: "aiAgent", jobId } }]);
  const { key } = (
    await app().inject({ method: "POST", url: "/keys", headers: bearer, payload: { name: "v", role: "viewer" } })
  ).json();
  expect((await read(url, { authorization: `Bearer ${key}` })).statusCode).toBe(403);
});

test("a workspace's key sees its own runs alone", async () => {
  const [own, other] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const workspaceId of [own, other]) await run(`of-${workspaceId}`, workspaceId);
  const payload = { name: "One", role: "operator", workspaceId: own };
  const { key } = (await app().inject({ method: "POST", url: "/keys", headers: bearer, payload })).json();
  const as = (url: string) => read(url, { authorization: `Bearer ${key}` });
  expect((await as("/agent/runs")).json().items).toMatchObject([{ jobId: `of-${own}` }]);
  expect((await as(`/agent/runs?workspaceId=${other}`)).statusCode).toBe(403);
  for (const suffix of ["", "/messages"]) {
    expectProblem(await as(`/agent/runs/aiAgent/of-${other}${suffix}`), 404, "unknown_run");
    expect((await as(`/agent/runs/aiAgent/of-${own}${suffix}`)).statusCode).toBe(200);
  }
});

test("a run that there is not is said to be none, and another queue has no runs", async () => {
  expectProblem(await read("/agent/runs/aiAgent/nope"), 404, "unknown_run");
  expectProblem(await read("/agent/runs/email/nope"), 400, "invalid_request");
});
