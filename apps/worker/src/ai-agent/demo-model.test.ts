import { listAgentApprovals } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { type DemoModel, startDemoModel } from "@millrace/dev-services";
import { aiAgentContract } from "@millrace/worker-config/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useAgentDomain } from "./test/domain.ts";

const { database } = useDatabase();
const { runAgent } = useAgentDomain(database, () => model.baseUrl);
let model: DemoModel;
beforeAll(async () => {
  model = await startDemoModel();
});
afterAll(() => model.stop());

test("the example calculates, asks a person for a mail with what came of it, and says how to approve that", async () => {
  const { result } = await runAgent(aiAgentContract.actions.runAgent.example ?? {});
  const [approval] = await listAgentApprovals(database(), { state: "pending", limit: 10 });
  expect(approval).toMatchObject({ queue: "email", action: "sendEmail" });
  expect(JSON.parse(approval?.data ?? "")).toMatchObject({
    to: "ada@example.com",
    text: expect.stringContaining('{"value":217}'),
  });
  expect(result).toMatchObject({
    steps: 3,
    approvals: [approval?.id],
    text: expect.stringContaining(`/agent/approvals/${approval?.id}/approve`),
  });
});

test("an answer by a schema fits it, after the tools have been called", async () => {
  const properties = { total: { type: "number" }, mood: { enum: ["calm", "wild"] } };
  const output = { type: "object", properties, required: ["total", "mood"] };
  const { result } = await runAgent({ prompt: "What is 2 + 3?", output });
  expect(result).toMatchObject({ steps: 2, output: { total: 0, mood: "calm" } });
});

test("a schema that is too much for it ends the run as one that no answer fits", async () => {
  const properties = { at: { type: "string", format: "ipv6" } };
  const { error } = await runAgent({ prompt: "Where?", output: { type: "object", properties, required: ["at"] } });
  expect(error).toMatchObject({ code: "output_invalid" });
});
