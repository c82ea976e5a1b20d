import { expect, test } from "vitest";
import { mail, useFreshQueues } from "../test/queues.ts";
import { marker, refusalOf } from "../test/refusal.ts";
import { defineQueue, emailContract, emailQueue, enqueueUnchecked } from "./index.ts";

useFreshQueues();

const send = (data: unknown, options?: unknown) => enqueueUnchecked(emailContract, "sendEmail", data, options);
const marked = { ...mail, subject: marker };

class Money {
  readonly amount = marker;
}

const circular: Record<string, unknown> = { marker };
circular.self = circular;

test.each([
  ["a Date", new Date(0)],
  ["a Map", new Map([[marker, marker]])],
  ["a class instance", new Money()],
  ["a Buffer", Buffer.from(marker)],
  ["a function", () => marker],
  ["a symbol", Symbol(marker)],
  ["a BigInt", 1n],
  ["NaN", Number.NaN],
  ["Infinity", Number.NEGATIVE_INFINITY],
  ["an undefined in an array", [marker, undefined]],
  ["a hole in an array", Array.of(marker).concat(new Array(1))],
  ["a cycle", circular],
  ["a symbol as a key", { [Symbol(marker)]: marker }],
  ["an object that lies about its class", Object.assign(Object.create({}), { constructor: { name: marker } })],
])("%s in the payload is refused, because JSON would change it", async (_, value) => {
  const refusal = await refusalOf(send({ ...marked, from: { address: "a@example.com", name: value } }));
  expect(refusal.code).toBe("invalid_data");
  expect(refusal.issues).toHaveLength(1);
  expect(refusal.issues[0]?.path).toMatch(/^data\.from\.name/);
  expect(refusal.message).toContain("data.from.name");
  expect(await emailQueue.count()).toBe(0);
});

test("a property that is undefined is left out, as JSON does", async () => {
  const { jobId } = await send({ ...mail, html: undefined });
  expect((await emailQueue.getJob(jobId))?.data.data).toEqual(mail);
});

test.each(["__proto__", "constructor", "prototype"])("the key %s is refused at any depth", async (key) => {
  // Only JSON.parse makes `__proto__` a key of its own.
  const nested: unknown = JSON.parse(`{"list":[{"deep":{"${key}":{"polluted":"${marker}"}}}]}`);
  const top: object = JSON.parse(`{"${key}":{"polluted":"${marker}"}}`);
  const deep = await refusalOf(send({ ...marked, from: nested }));
  expect(deep.issues.map(({ path }) => path)).toEqual([`data.from.list[0].deep.${key}`]);
  const atTop = await refusalOf(send(Object.defineProperties({ ...marked }, Object.getOwnPropertyDescriptors(top))));
  expect(atTop.issues.map(({ path }) => path)).toEqual([`data.${key}`]);
  const inMeta = await refusalOf(send(mail, { meta: JSON.parse(`{"${key}":"${marker}"}`) }));
  expect(inMeta.code).toBe("invalid_options");
  expect(inMeta.issues.map(({ path }) => path)).toEqual([`options.meta.${key}`]);
});

test("a payload of exactly the limit is taken, and one byte more is refused", async () => {
  const limit = 262_144;
  const withText = (text: string) => ({ ...mail, text });
  const frame = Buffer.byteLength(JSON.stringify({ type: "sendEmail", data: withText("") }));
  // Two bytes in UTF-8: what counts is bytes, not characters.
  const fitting = "é".repeat(Math.floor((limit - frame) / 2)) + "x".repeat((limit - frame) % 2);
  expect((await send(withText(fitting))).status).toBe("created");
  const refusal = await refusalOf(send(withText(marker + "x".repeat(limit))));
  expect(refusal.code).toBe("payload_too_large");
  expect(refusal.message).toContain(String(limit));
  expect((await refusalOf(send(withText(`${fitting}x`)))).message).toContain(String(limit + 1));
});

test("QUEUE_MAX_PAYLOAD_BYTES moves the limit", async () => {
  process.env.QUEUE_MAX_PAYLOAD_BYTES = "1024";
  try {
    expect((await refusalOf(send({ ...mail, text: marker.repeat(80) }))).code).toBe("payload_too_large");
  } finally {
    delete process.env.QUEUE_MAX_PAYLOAD_BYTES;
  }
});

test("a key that the action does not know is refused: an option in the wrong place would do nothing", async () => {
  const refusal = await refusalOf(send({ ...marked, delayMs: 1_000 }));
  expect(refusal.code).toBe("invalid_data");
  expect(refusal.message).toContain("delayMs");
});

test("data that breaks the action's schema is refused, each field by its path", async () => {
  const refusal = await refusalOf(send({ ...mail, to: marker, subject: "" }));
  expect(refusal.issues.map(({ path }) => path)).toEqual(["data.to", "data.subject"]);
  const lineBreak = await refusalOf(send({ ...mail, subject: `${marker}\r\nBcc: eve@example.com` }));
  expect(lineBreak.issues).toEqual([{ path: "data.subject", message: "expected a single line" }]);
  const { text: _, ...empty } = marked;
  expect((await refusalOf(send(empty))).issues).toEqual([
    { path: "data.text", message: "expected html, text or both, or a template" },
  ]);
});

test.each([[undefined], [null], ["text"], [[marker]]])("a payload that is no object (%j) is refused", async (data) => {
  expect((await refusalOf(send(data))).issues.map(({ path }) => path)).toEqual(["data"]);
});

test.each(["sendFax", "constructor", "__proto__", "toString", ""])(
  "the unknown action %j is refused by its name",
  async (action) => {
    const refusal = await refusalOf(enqueueUnchecked(emailContract, action, marked));
    expect(refusal.code).toBe("unknown_action");
    const known = emailContract.actionNames.options.join(", ");
    expect(refusal.message).toBe(`Queue email has no action ${JSON.stringify(action)}; expected one of ${known}.`);
  },
);

test("a queue without actions accepts no job and says so", async () => {
  const refusal = await refusalOf(enqueueUnchecked(defineQueue("quota", {}), "deliver", marked));
  expect(refusal.code).toBe("unknown_action");
  expect(refusal.message).toBe("Queue quota has no actions yet, so it accepts no job.");
});

test.each<[string, unknown, string]>([
  ["a delay of NaN", { delayMs: Number.NaN }, "options.delayMs"],
  ["a negative delay", { delayMs: -1 }, "options.delayMs"],
  ["a fraction of a millisecond", { delayMs: 0.5 }, "options.delayMs"],
  ["a delay as text", { delayMs: "1000" }, "options.delayMs"],
  ["a moment that is none", { runAt: "tomorrow" }, "options.runAt"],
  ["a moment without a time zone", { runAt: "2030-01-01T00:00:00" }, "options.runAt"],
  ["two answers to when", { delayMs: 1, runAt: "2030-01-01T00:00:00Z" }, "options.runAt"],
  ["a priority of 0", { priority: 0 }, "options.priority"],
  ["a priority beyond 10", { priority: 11 }, "options.priority"],
  ["no attempt at all", { attempts: 0 }, "options.attempts"],
  ["an empty list of waits", { retryIntervalsMs: [] }, "options.retryIntervalsMs"],
  ["a negative wait", { retryIntervalsMs: [1, -1] }, "options.retryIntervalsMs.1"],
  ["an option that does not exist", { delay: 1_000 }, "options"],
  ["an id of digits", { jobId: "123" }, "options.jobId"],
  ["an id that is a negative number", { jobId: "-42" }, "options.jobId"],
  ["an id that is NaN", { jobId: "NaN" }, "options.jobId"],
  ["an empty id", { jobId: "" }, "options.jobId"],
  ["an id with a colon", { jobId: "a:b:c" }, "options.jobId"],
  ["an id that is a number", { jobId: 7 }, "options.jobId"],
  ["an id and a dedupe key", { jobId: "a", dedupe: { key: "b", mode: "drop" } }, "options.dedupe"],
  ["a dedupe key with a colon", { dedupe: { key: "b:c", mode: "drop" } }, "options.dedupe.key"],
  ["an unknown dedupe mode", { dedupe: { key: "b", mode: "first" } }, "options.dedupe.mode"],
  ["latest without a delay", { dedupe: { key: "b", mode: "latest" } }, "options.delayMs"],
  ["latest with no time to replace in", { delayMs: 0, dedupe: { key: "b", mode: "latest" } }, "options.delayMs"],
  ["ttlMs without drop", { dedupe: { key: "b", mode: "again", ttlMs: 1 } }, "options.dedupe.ttlMs"],
  ["a label that is an object", { meta: { a: {} } }, "options.meta.a"],
  ["too many labels", { meta: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`m${i}`, i])) }, "options.meta"],
  ["null", null, "options"],
])("options with %s are refused by the field's name", async (_, options, path) => {
  const refusal = await refusalOf(send(marked, options));
  expect(refusal.code).toBe("invalid_options");
  expect(refusal.issues.map((issue) => issue.path)).toContain(path);
  expect(refusal.message).toContain(path);
  expect(await emailQueue.count()).toBe(0);
});
