import { createLogger } from "@millrace/logger";
import { expect, test } from "vitest";
import { type AppendEvent, createRunEvents } from "./job-events.ts";
import { agentContext } from "./test/domain.ts";

test("pieces of an answer are told together, in order with what else happens", async () => {
  const told: unknown[] = [];
  const append: AppendEvent = async (queue, _, { type, data }) => void told.push([queue, type, data]);
  const events = createRunEvents(append, agentContext());
  events.tell("step-begun", { step: 0 });
  for (const piece of ["It ", "works", "."]) events.text(0, piece);
  events.tell("step-done", { step: 0 });
  events.text(1, "More.");
  await events.flush();
  expect(told).toEqual([
    ["aiAgent", "step-begun", { step: 0 }],
    ["aiAgent", "token", { step: 0, text: "It works." }],
    ["aiAgent", "step-done", { step: 0 }],
    ["aiAgent", "token", { step: 1, text: "More." }],
  ]);
});

test("a piece is told though nothing follows it", async () => {
  const told = Promise.withResolvers<unknown>();
  const events = createRunEvents(async (_, __, { data }) => told.resolve(data), agentContext());
  events.text(3, "Hm");
  expect(await told.promise).toEqual({ step: 3, text: "Hm" });
});

test("a stream that cannot be written ends nothing, says so once, and holds nothing up", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "warn", format: "json", destination: { write: (line) => void lines.push(line) } });
  const events = createRunEvents(() => Promise.reject(new Error("away")), agentContext({ log }));
  for (let step = 0; step < 200; step++) events.tell("step-begun", { step });
  await events.flush();
  expect(lines.map((line) => JSON.parse(line).code)).toEqual(["events_not_written"]);
});
