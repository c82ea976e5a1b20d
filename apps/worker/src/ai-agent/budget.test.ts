import { setTimeout as wait } from "node:timers/promises";
import { useDatabase } from "@millrace/database/testing";
import { beforeAll, expect, test } from "vitest";
import type { ModelCall } from "./model-turns.ts";
import { useAgentDomain } from "./test/domain.ts";
import { calls, type ScriptedModel, says, startScriptedModel } from "./test/scripted-model.ts";

const { database } = useDatabase();
const { runAgent } = useAgentDomain(database, () => model.baseUrl);
let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});

test.each([
  ["steps", { steps: 2 }],
  ["tokens", { tokens: 150 }],
  ["cost", { costUsd: 0.0003 }],
])("a run that has used up its %s ends for good with a code that says so", async (what, budget) => {
  const again = calls(["calculate", { expression: "1+1" }]);
  model.script(again, again, again, again);
  const { error } = await runAgent({ budget });
  expect(error).toMatchObject({ failureKind: "permanent", code: `budget_${what}` });
  expect(model.requests()).toHaveLength(2);
});

test("a run whose time is over ends for good, and the model is never asked for more tokens than are left", async () => {
  model.script(() => {});
  const { error } = await runAgent({ budget: { timeMs: 1_000, tokens: 300 } });
  expect(error).toMatchObject({ failureKind: "permanent", code: "budget_time" });
  expect(model.requests()[0]?.max_tokens).toBe(300);
});

test("where a server counts no tokens, their number is estimated and budgets hold", async () => {
  model.script(says("x".repeat(1_000), "stop", { isCounted: false }), says("A second answer."));
  const { error } = await runAgent({ output: { type: "object" }, budget: { tokens: 200 } });
  expect(error).toMatchObject({ failureKind: "permanent", code: "budget_tokens" });
  expect(model.requests()).toHaveLength(1);
});

test("waiting for a turn uses up none of a run's time", async () => {
  const takeTurn = async (_: ModelCall, signal: AbortSignal) => {
    await wait(1_200, undefined, { signal });
    return async () => {};
  };
  model.script(says("Yes."));
  expect((await runAgent({ budget: { timeMs: 1_000 } }, { takeTurn })).result).toMatchObject({ text: "Yes." });
});
