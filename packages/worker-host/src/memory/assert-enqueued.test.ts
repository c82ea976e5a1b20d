import { AssertionError } from "node:assert";
import { defineQueue } from "@millrace/worker-config/contracts";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { silent } from "../../test/use-queue.ts";
import { hosted, startMemoryHost } from "./index.ts";

const contract = defineQueue("email", {
  send: { data: z.object({ to: z.string(), tags: z.array(z.string()).optional() }) },
  forget: { data: z.object({ to: z.string() }) },
});
const elsewhere = defineQueue("webhook", { deliver: { data: z.object({ url: z.string() }) } });

const memory = startMemoryHost([hosted(contract, { send: async () => {}, forget: async () => {} })], { log: silent });
afterEach(() => memory.drain());

test("jobs that were enqueued are found by fields, by predicate and by number, whatever has become of them", async () => {
  await memory.enqueue(contract, "send", { to: "ada", tags: ["a", "b"] });
  await memory.enqueue(contract, "send", { to: "ada" });
  await memory.enqueue(contract, "send", { to: "eve" });
  await memory.drain();
  memory.assertEnqueued(contract, "send");
  memory.assertEnqueued(contract, "send", { to: "ada" }, { times: 2 });
  memory.assertEnqueued(contract, "send", { tags: ["a", "b"] }, { times: 1 });
  memory.assertEnqueued(contract, "send", ({ to }) => to.startsWith("e"), { times: 1 });
  memory.assertEnqueued(contract, "send", { to: "bob" }, { times: 0 });
  memory.assertEnqueued(contract, "forget", undefined, { times: 0 });
});

test("a queue that nobody hosts takes jobs, which can be asserted", async () => {
  const { jobId } = await memory.enqueue(elsewhere, "deliver", { url: "https://example.com" });
  await memory.drain();
  memory.assertEnqueued(elsewhere, "deliver", { url: "https://example.com" }, { times: 1 });
  expect(memory.findJob("webhook", jobId)).toMatchObject({ status: "pending", attempts: 0 });
});

const messageOf = (assert: () => void): string => {
  try {
    assert();
  } catch (error) {
    expect(error).toBeInstanceOf(AssertionError);
    return error instanceof Error ? error.message : "";
  }
  throw new Error("nothing was thrown");
};

test("what does not hold says what was expected, and shows what was enqueued instead", async () => {
  const fresh = startMemoryHost([], { log: silent });
  const none = messageOf(() => fresh.assertEnqueued(contract, "send", { to: "ada" }));
  expect(none).toBe('Expected jobs enqueued: at least 1 of email/send with {"to":"ada"}. Got no job of that name');
  await fresh.enqueue(contract, "send", { to: "eve" });
  await fresh.enqueue(contract, "send", { to: "ada" });
  const wrong = messageOf(() => fresh.assertEnqueued(contract, "send", { to: "ada" }, { times: 2 }));
  expect(wrong).toBe(
    'Expected jobs enqueued: 2 of email/send with {"to":"ada"}. Got 1 among the 2 enqueued:\n  {"to":"eve"}\n  {"to":"ada"}',
  );
  for (let more = 0; more < 10; more++) await fresh.enqueue(contract, "send", { to: "eve" });
  const many = messageOf(() => fresh.assertEnqueued(contract, "send", () => false));
  expect(many).toMatch(/at least 1 of email\/send that the predicate accepts. Got 0 among the 12 enqueued:/);
  expect(many.split("\n").slice(-2)).toEqual(['  {"to":"eve"}', "  and 2 more"]);
});

test("a field is compared as a whole: a part of a list is not the list", async () => {
  const fresh = startMemoryHost([], { log: silent });
  await fresh.enqueue(contract, "send", { to: "ada", tags: ["a", "b"] });
  expect(() => fresh.assertEnqueued(contract, "send", { tags: ["a"] })).toThrow(AssertionError);
});
