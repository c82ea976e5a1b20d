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

test("a long text reaches its followers whole, in events that the stream takes", async () => {
  const told: { text: string }[] = [];
  // The writer's own rule is held by its own test.
  const append: AppendEvent = async (_, __, { data }) => {
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(16_384);
    told.push(data as { text: string });
  };
  const events = createRunEvents(append, agentContext());
  const text = `x${"😀".repeat(10_000)}${"\n".repeat(20_000)}`;
  events.text(0, text);
  await events.flush();
  // Compared here: nobody reads a difference of this length.
  expect(told.map((piece) => piece.text).join("") === text).toBe(true);
  expect(told.every((piece) => piece.text.isWellFormed())).toBe(true);
});

test("a stream that takes for ever holds a run up for a second at most", async () => {
  const events = createRunEvents(() => new Promise(() => {}), agentContext());
  events.text(0, "Hm");
  await events.flush();
});

test("a stream that cannot be written ends nothing, says so once, and holds nothing up", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "warn", format: "json", destination: { write: (line) => void lines.push(line) } });
  const events = createRunEvents(() => Promise.reject(new Error("away")), agentContext({ log }));
  for (let step = 0; step < 200; step++) events.tell("step-begun", { step });
  await events.flush();
  expect(lines.map((line) => JSON.parse(line).code)).toEqual(["events_not_written"]);
});
