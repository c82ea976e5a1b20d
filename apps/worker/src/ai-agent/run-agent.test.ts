import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { agentRunId, listAgentApprovals, readAgentSteps } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { ModelCall } from "./model-turns.ts";
import { agentContext, useAgentDomain } from "./test/domain.ts";
import { calls, fails, type ScriptedModel, says, startScriptedModel } from "./test/scripted-model.ts";
import { defineTool } from "./tools/agent-tool.ts";

const { database } = useDatabase();
const { runAgent } = useAgentDomain(database, () => model.baseUrl);
let model: ScriptedModel;
let pageUrl = "";
let pageHits = 0;
const site = createServer((_, response) => {
  pageHits += 1;
  response
    .writeHead(200, { "content-type": "text/html" })
    .end("<title>Mills</title><script>steal()</script><p>A mill <b>grinds</b> corn.");
});

beforeAll(async () => {
  model = await startScriptedModel();
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const address = site.address();
  pageUrl = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/`;
});
beforeEach(() => {
  pageHits = 0;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

test("a run calls the tools that the model asks for, tells it what they came to, and returns its answer and what it cost", async () => {
  model.script(
    calls(["fetchPage", { url: pageUrl }], ["calculate", { expression: "0.1 + 0.2" }]),
    says("Corn, and 0.3."),
  );
  const { result } = await runAgent({ prompt: "What does a mill do?", instructions: "Be brief." });
  expect(result).toEqual({
    text: "Corn, and 0.3.",
    output: null,
    finishReason: "stop",
    steps: 2,
    approvals: [],
    usage: { inputTokens: 200, outputTokens: 20, costUsd: expect.closeTo(0.0004, 8) },
  });
  const [first, second] = model.requests();
  expect(first?.messages).toMatchObject([{ role: "system", content: "Be brief." }, { role: "user" }]);
  expect(first?.tools?.map(({ function: { name } }) => name)).toEqual(["fetchPage", "lookUpJob", "calculate"]);
  const [page, sum] = (second?.messages ?? []).filter(({ role }) => role === "tool");
  expect(JSON.parse(String(page?.content))).toMatchObject({ title: "Mills", text: "A mill grinds corn.", status: 200 });
  expect(JSON.parse(String(sum?.content))).toEqual({ value: 0.3 });
});

test("each question takes its turn on the workspace's account, and the limit learns what its answer took", async () => {
  const [asked, used]: [ModelCall[], number[]] = [[], []];
  const takeTurn = async (call: ModelCall) => {
    asked.push(call);
    return async (tokens: number) => void used.push(tokens);
  };
  model.script(says("Yes."));
  await runAgent({ prompt: "x".repeat(4_000), workspaceId: "w" }, { takeTurn });
  expect(asked).toMatchObject([{ workspaceId: "w" }]);
  // A quarter of its characters, and room for an answer.
  expect(asked[0]?.estimatedTokens).toBeGreaterThan(1_400);
  expect(asked[0]?.estimatedTokens).toBeLessThan(1_600);
  expect(used).toEqual([110]);
});

test("a further attempt asks for no stored step again and calls no finished tool twice", async () => {
  const context = agentContext();
  model.script(calls(["fetchPage", { url: pageUrl }]), fails(500));
  expect((await runAgent({}, { context })).error).toMatchObject({
    failureKind: "transient",
    code: "model_unavailable",
  });
  model.script(says("Done."));
  const { result } = await runAgent({}, { context });
  expect(result).toMatchObject({ text: "Done.", steps: 2, usage: { inputTokens: 200 } });
  expect([pageHits, model.requests().length]).toEqual([1, 1]);
  // As after a death between the last record and the job's end.
  model.script();
  expect((await runAgent({}, { context })).result).toEqual(result);
  expect(model.requests()).toEqual([]);
});

test("a tool that was begun and may have been called is called again only where that does no harm", async () => {
  const context = agentContext();
  let charged = 0;
  const charge = (isRepeatable: boolean, doesDie: boolean) => () => [
    defineTool({
      name: "charge",
      description: "Charges a card.",
      input: z.object({}),
      isRepeatable,
      run: async () => {
        charged += 1;
        if (doesDie) throw new Error("the process died here");
        return null;
      },
    }),
  ];
  model.script(calls(["charge", {}]));
  await runAgent({}, { context, toolsFor: charge(false, true) });
  const again = await runAgent({}, { context, toolsFor: charge(false, false) });
  expect(again.error).toMatchObject({ failureKind: "ambiguous", code: "tool_call_ambiguous" });
  expect(charged).toBe(1);
  model.script(says("Charged."));
  expect((await runAgent({}, { context, toolsFor: charge(true, false) })).result).toMatchObject({ text: "Charged." });
  expect(charged).toBe(2);
});

test("an answer that the server withholds is counted, and a replay asks again", async () => {
  const context = agentContext();
  model.script(says("Hm", "content_filter"), says("Yes."));
  expect((await runAgent({}, { context })).error).toMatchObject({ code: "content_filtered" });
  const { result } = await runAgent({}, { context });
  expect(result).toMatchObject({ text: "Yes.", steps: 2, usage: { inputTokens: 200 } });
  expect(model.requests()[1]?.messages).toHaveLength(1);
});

test("a tool that there is not is noted by a name that can be stored", async () => {
  const context = agentContext();
  model.script(calls([`fetch\0Page${"x".repeat(200)}`, {}]), says("I could not."));
  expect((await runAgent({}, { context })).result).toMatchObject({ text: "I could not." });
  const [step] = await readAgentSteps(database(), agentRunId(context));
  expect(step?.toolCalls.map(({ tool }) => tool)).toEqual([`fetchPage${"x".repeat(91)}`]);
});

test("what a tool refuses is told to the model, which goes on", async () => {
  model.script(
    calls(
      ["calculate", { expression: "process.exit()" }],
      ["calculate", "no JSON"],
      ["fetchPage", { url: "http://169.254.169.254/latest" }],
      ["deleteEverything", {}],
      ["lookUpJob", { queue: "email", jobId: "nobody-knows" }],
    ),
    says("I could not."),
  );
  expect((await runAgent({})).result).toMatchObject({ text: "I could not." });
  const told = model
    .requests()[1]
    ?.messages.filter(({ role }) => role === "tool")
    .map(({ content }) => content);
  expect(told).toEqual([
    expect.stringMatching(/whose value is a number/),
    expect.stringMatching(/arguments of its schema/),
    expect.stringMatching(/could not be read/),
    expect.stringMatching(/expected a tool that there is/),
    "There is no such job.",
  ]);
});

test("an answer that its schema refuses is mended by the model, and one that never fits ends the job", async () => {
  const schema = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] };
  model.script(says("It is five."), says('```json\n{ "total": 5 }\n```'));
  const { result } = await runAgent({ output: schema });
  expect(result).toMatchObject({ output: { total: 5 }, steps: 2 });
  expect(model.requests()[0]?.response_format).toMatchObject({ type: "json_schema" });
  expect(model.requests()[1]?.messages.at(-1)?.content).toMatch(/not JSON/);
  model.script(says("{}"), says('{ "total": "5" }'), says("no"));
  expect((await runAgent({ output: schema })).error).toMatchObject({
    failureKind: "permanent",
    code: "output_invalid",
  });
});

test("a job that the model wants waits for a person, is checked at once, and is asked for once", async () => {
  const workspaceId = randomUUID();
  const context = agentContext();
  const mail = { to: "bob@example.com", subject: "Hello", text: "You asked." };
  const want = (data: object) => ["requestJob", { job: "email/sendEmail", data, reason: "He asked." }] as const;
  model.script(
    calls(want({ ...mail, workspaceId }), want(mail), want({ ...mail, workspaceId, to: "nobody" })),
    fails(503),
  );
  const data = { workspaceId, requestableJobs: ["email/sendEmail"] };
  await runAgent(data, { context });
  model.script(says("Asked."));
  const { result } = await runAgent(data, { context });
  const approvals = await listAgentApprovals(database(), { workspaceId, limit: 10 });
  expect(approvals).toMatchObject([{ state: "pending", queue: "email", action: "sendEmail", reason: "He asked." }]);
  expect(result?.approvals).toEqual([approvals[0]?.id]);
  expect(JSON.parse(approvals[0]?.data ?? "")).toEqual({ ...mail, workspaceId });
  const [, foreign, wrong] = model.requests()[0]?.messages.filter(({ role }) => role === "tool") ?? [];
  expect(foreign?.content).toMatch(/must name the workspace/);
  expect(wrong?.content).toMatch(/data\.to: /);
});

test.each(["schedule/sweepQueues", "email/nothing", "nothing/sendEmail"])(
  "%s is no job that a run may ask for",
  async (name) => {
    expect((await runAgent({ requestableJobs: [name] })).error).toMatchObject({
      failureKind: "permanent",
      code: "unknown_job",
    });
  },
);
