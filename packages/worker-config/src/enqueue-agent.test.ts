import { expect, test } from "vitest";
import { useFreshQueues } from "../test/queues.ts";
import { aiAgentQueue, aiAgentUrgentQueue, enqueueAgent } from "./index.ts";

useFreshQueues();

test.each([
  [undefined, "aiAgent"],
  [4, "aiAgent"],
  [3, "aiAgentUrgent"],
  [1, "aiAgentUrgent"],
] as const)("an agent's job of priority %s goes to %s, and the answer says so", async (priority, queue) => {
  const answer = await enqueueAgent("runAgent", { prompt: "Hello" }, priority === undefined ? {} : { priority });
  expect(answer).toMatchObject({ status: "created", queue });
  const counts = { aiAgent: await aiAgentQueue.count(), aiAgentUrgent: await aiAgentUrgentQueue.count() };
  expect(counts).toEqual({ aiAgent: 0, aiAgentUrgent: 0, [queue]: 1 });
});
