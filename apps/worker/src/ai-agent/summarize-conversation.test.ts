import { useDatabase } from "@millrace/database/testing";
import { aiAgentContract } from "@millrace/worker-config/contracts";
import { beforeAll, expect, test } from "vitest";
import { aiAgentHandlers } from "./handlers.ts";
import { splitText } from "./split-text.ts";
import { agentContext, useAgentDomain } from "./test/domain.ts";
import { fails, type ScriptedModel, says, startScriptedModel } from "./test/scripted-model.ts";

const { database } = useDatabase();
const { parts } = useAgentDomain(database, () => model.baseUrl);
const { data: schema, example } = aiAgentContract.actions.summarizeConversation;
let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});

test("a conversation becomes a summary, in the language and the length that were asked for", async () => {
  model.script(says(" A late parcel comes tomorrow. "));
  const data = schema.parse({ ...example, maxWords: 40, language: "German" });
  const result = await aiAgentHandlers(parts()).summarizeConversation(data, agentContext());
  expect(result).toMatchObject({ summary: "A late parcel comes tomorrow.", parts: 1, usage: { inputTokens: 100 } });
  const [system, user] = model.requests()[0]?.messages ?? [];
  expect(system?.content).toMatch(/at most 40 words in German/);
  expect(user?.content).toContain("assistant: I am sorry.");
});

test("a long one is read in parts, and a further attempt asks for none of them again", async () => {
  const messages = Array.from({ length: 50 }, (_, index) => ({ role: "user", content: `${index} ${"x".repeat(990)}` }));
  const [data, context] = [schema.parse({ messages }), agentContext()];
  const { summarizeConversation } = aiAgentHandlers(parts());
  model.script(says("One."), fails(500));
  await expect(summarizeConversation(data, context)).rejects.toMatchObject({ code: "model_unavailable" });
  model.script(says("Two."), says("Three."), says("All."));
  const { summary, parts: count, usage } = await summarizeConversation(data, context);
  expect([summary, count, usage.inputTokens]).toEqual(["All.", 3, 400]);
  expect(model.requests()).toHaveLength(3);
  expect(model.requests().at(-1)?.messages.at(-1)?.content).toContain("One.\n\nTwo.\n\nThree.");
});

test("a model that says nothing ends the job", async () => {
  const { summarizeConversation } = aiAgentHandlers(parts());
  model.script(says(" "));
  await expect(summarizeConversation(schema.parse(example), agentContext())).rejects.toMatchObject({
    failureKind: "permanent",
    code: "summary_empty",
  });
});

test("a model whose summaries of summaries never get shorter ends the job, and is not asked for ever", async () => {
  const { summarizeConversation } = aiAgentHandlers(parts());
  const reply = says("x".repeat(13_000));
  model.script(...Array.from({ length: 50 }, () => reply));
  const data = schema.parse({ messages: [{ role: "user", content: "x".repeat(30_000) }] });
  await expect(summarizeConversation(data, agentContext())).rejects.toMatchObject({
    failureKind: "permanent",
    code: "summary_too_long",
  });
  // Two parts in each of five rounds.
  expect(model.requests()).toHaveLength(10);
});

test("a text is cut between paragraphs, lines or words where it can be, and never within a sign", () => {
  expect(splitText("aaaa bbbb\ncccc", 12)).toEqual(["aaaa bbbb", "cccc"]);
  expect(splitText("aaaaaaaaaa", 4)).toEqual(["aaaa", "aaaa", "aa"]);
  expect(splitText("aaa😀aaa", 4)).toEqual(["aaa", "😀aa", "a"]);
  expect(splitText("", 4)).toEqual([""]);
});
