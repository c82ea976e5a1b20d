import { createServer, type ServerResponse } from "node:http";
import { listAgentApprovals } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentContext, useAgentDomain } from "./test/domain.ts";
import { calls, fails, type ModelReply, type ScriptedModel, says, startScriptedModel } from "./test/scripted-model.ts";

const { database } = useDatabase();
const { runAgent } = useAgentDomain(database, () => model.baseUrl);
let model: ScriptedModel;
let redirected = 0;
const elsewhere = createServer((_, response) => {
  redirected += 1;
  response.end();
});
let elsewhereUrl = "";

beforeAll(async () => {
  model = await startScriptedModel();
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  const address = elsewhere.address();
  elsewhereUrl = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/`;
});
afterAll(() => {
  elsewhere.closeAllConnections();
  elsewhere.close();
});

const event = (delta: object, rest: object = {}) =>
  `data: ${JSON.stringify({ id: "1", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }], ...rest })}\n\n`;

/** Sends it for as long as somebody reads. */
async function sendForever(response: ServerResponse, text: string): Promise<number> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let bytes = 0;
  while (!response.destroyed) {
    bytes += text.length;
    if (response.write(text)) await new Promise((resolve) => setImmediate(resolve));
    else {
      const { promise, resolve } = Promise.withResolvers<void>();
      response.once("drain", resolve).once("close", resolve);
      await promise;
    }
  }
  return bytes;
}

test.each([
  ["words", event({ content: "word ".repeat(100) })],
  ["thoughts", event({ reasoning_content: "hm ".repeat(100) })],
  ["events without a word", event({ content: "" }).repeat(100)],
  ["one line without an end", "x".repeat(10_000)],
])("a server that sends %s without end is cut off, and the job is dead", async (_, text) => {
  const sent = Promise.withResolvers<number>();
  model.script(async (response) => sent.resolve(await sendForever(response, text)));
  const { error } = await runAgent({});
  expect(error).toMatchObject({ failureKind: "permanent", code: "answer_too_large" });
  // 1,000 tokens may be asked for; what lies in the buffers of both ends comes on top.
  expect(await sent.promise).toBeLessThan(12_000_000);
});

test("an answer that fits into one event and is far longer than what was asked for never becomes a result", async () => {
  model.script(says("x".repeat(100_000)));
  expect((await runAgent({})).error).toMatchObject({ failureKind: "permanent", code: "answer_too_large" });
});

test("a redirect of the model's server takes no prompt along", async () => {
  model.script((response) => response.writeHead(307, { location: elsewhereUrl }).end());
  expect((await runAgent({})).error).toMatchObject({ failureKind: "permanent", code: "model_redirected" });
  expect(redirected).toBe(0);
});

const counts =
  (prompt_tokens: number, completion_tokens: number): ModelReply =>
  (response) => {
    const usage = { prompt_tokens, completion_tokens, total_tokens: 1 };
    const last = { choices: [{ index: 0, delta: { content: "Yes." }, finish_reason: "stop" }], usage };
    response.writeHead(200, { "content-type": "text/event-stream" }).end(`${event({}, last)}data: [DONE]\n\n`);
  };

test.each([
  [1.5, 2.4, { inputTokens: 2, outputTokens: 2 }],
  [1e12, 3, { inputTokens: 10_000_000, outputTokens: 3 }],
  [-1_000_000, 5, { inputTokens: 0, outputTokens: 5 }],
])(
  "an answer whose tokens are counted as %d and %d is stored, asked for once, and gives no budget back",
  async (input, output, usage) => {
    const context = agentContext();
    model.script(counts(input, output));
    expect((await runAgent({}, { context })).result).toMatchObject({ text: "Yes.", usage });
    model.script(fails(500));
    expect((await runAgent({}, { context })).result).toMatchObject({ text: "Yes.", usage });
  },
);

test("of an answer that wants hundreds of tools twenty are called, and the model is told of the others", async () => {
  const wanted = Array.from({ length: 250 }, (_, index) => ["calculate", { expression: `${index} + 0` }] as const);
  model.script(calls(...wanted), says("Enough."));
  expect((await runAgent({})).result).toMatchObject({ text: "Enough." });
  const told = model.requests()[1]?.messages.filter(({ role }) => role === "tool") ?? [];
  expect(told).toHaveLength(250);
  expect(told[19]?.content).toBe('{"value":19}');
  expect(told[20]?.content).toMatch(/20 calls/);
});

test("of the jobs that a run asks for no more than twenty wait for a person", async () => {
  const workspaceId = crypto.randomUUID();
  const data = { to: "bob@example.com", subject: "Hello", text: "You asked.", workspaceId };
  const want = ["requestJob", { job: "email/sendEmail", data, reason: "He asked." }] as const;
  model.script(calls(...Array.from({ length: 19 }, () => want)), calls(want, want), says("Asked."));
  const { result } = await runAgent({ workspaceId, requestableJobs: ["email/sendEmail"] });
  expect(result?.approvals).toHaveLength(20);
  expect(await listAgentApprovals(database(), { workspaceId, limit: 30 })).toHaveLength(20);
  const told = model.requests()[2]?.messages.filter(({ role }) => role === "tool") ?? [];
  expect(told.at(-1)?.content).toMatch(/wait for a person's decision/);
});
