import { expect, test } from "vitest";
import { useFreshQueues } from "../test/queues.ts";
import { agentContractFor, aiAgentQueue, aiAgentUrgentQueue, enqueueAgent } from "./index.ts";

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

test.each([
  [1, "aiAgentUrgent"],
  [2, "aiAgentUrgent"],
  [3, "aiAgentUrgent"],
  [4, "aiAgent"],
  [10, "aiAgent"],
  [undefined, "aiAgent"],
  // BullMQ's word for none.
  [0, "aiAgent"],
  [-1, "aiAgent"],
  [1.5, "aiAgent"],
  [Number.NaN, "aiAgent"],
  ["2", "aiAgent"],
  [null, "aiAgent"],
] as const)("of an agent's job with the priority %j the queue is %s", (priority, queue) => {
  expect(agentContractFor(priority).name).toBe(queue);
});
