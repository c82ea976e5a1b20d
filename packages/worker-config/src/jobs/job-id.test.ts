import { expect, test } from "vitest";
import { mailJob, useFreshQueues } from "../../test/queues.ts";
import { emailQueue, jobIdSchema } from "../index.ts";
import { makeJobId } from "./job-id.ts";

useFreshQueues();

const uuid = "7b0c2f6e-1d2a-4f7e-9b1e-3a5c7d9e1f20";
const parts: readonly (string | number)[] = [
  "a",
  "b",
  "c",
  "a-b",
  "b-c",
  "-",
  "--",
  "~",
  "_",
  ".",
  "a_b",
  "a.b",
  "a+b",
  "a=b",
  "a b",
  " ",
  "\n",
  "\0",
  "0",
  "007",
  "123",
  42,
  -42,
  0.5,
  1e21,
  "0:",
  ":",
  "a:b",
  "a:b:c",
  "::",
  "constructor",
  "__proto__",
  "wait",
  "meta",
  "id",
  "waiting",
  "children",
  "stalled",
  "check",
  "ada@example.com",
  "Ada Lovelace <ada+news@example.com>",
  "https://example.com/a?b=c&d[]=e#f",
  uuid,
  uuid.toUpperCase(),
  "Größe",
  "名前",
  "🚀",
  "👩‍👩‍👧",
  "\ud800",
  "a\ud800",
  "e\u0301",
  "\u00e9",
  "\u200b",
  "x".repeat(119),
  "x".repeat(120),
  "x".repeat(121),
  "x".repeat(5_000),
  `${"x".repeat(5_000)}y`,
  '"',
  "\\",
  "[]",
  "{}",
  "null",
  "undefined",
  "NaN",
  "{millrace}",
  "$[a]",
  "%3A",
  "*",
  "?",
  "/",
  "../..",
];

/** Every part alone, every pair, and the triples of a few that join badly. */
const lists: readonly (readonly [string | number, ...(string | number)[]])[] = [
  ...parts.map((part) => [part] as const),
  ...parts.flatMap((first) => parts.map((second) => [first, second] as const)),
  ...["a", "a-b", "-", "1", ":"].flatMap((a) =>
    ["b", "-", "b-c", "2"].flatMap((b) => ["c", "-", "3"].map((c) => [a, b, c] as const)),
  ),
];

test("every id is one that the queue's door lets in", () => {
  const refused = lists.filter((list) => !jobIdSchema.safeParse(makeJobId(...list)).success);
  expect(refused).toEqual([]);
});

test("different parts give different ids, however they would join", () => {
  const listsById = new Map<string, Set<string>>();
  for (const list of lists) {
    // A number and its text are the same part.
    const key = JSON.stringify(list.map(String));
    const id = makeJobId(...list);
    listsById.set(id, (listsById.get(id) ?? new Set()).add(key));
  }
  expect([...listsById.values()].filter((keys) => keys.size > 1)).toEqual([]);
  expect(listsById.size).toBeGreaterThan(4_000);
});

test("parts are not confused with the sign that joins them", () => {
  expect(makeJobId("a-b", "c")).not.toBe(makeJobId("a", "b-c"));
  expect(makeJobId("a", "b")).not.toBe(makeJobId("a-b"));
  expect(makeJobId("a", "b~c")).not.toBe(makeJobId("a", "b", "c"));
});

test("the ids that it makes plain stay plain, because they are in use", () => {
  expect(makeJobId("welcome", "ada@example.com", 7)).toBe("welcome-ada@example.com-7");
  expect(makeJobId("welcome", uuid)).toBe(`welcome-${uuid}~c1cb120272553c16`);
  expect(makeJobId(1, 2)).toBe("1-2");
});

test("the same parts give the same id, and hand nobody a forged one", () => {
  for (const list of lists) expect(makeJobId(...list)).toBe(makeJobId(...list));
  expect(makeJobId(makeJobId("welcome", uuid))).not.toBe(makeJobId("welcome", uuid));
});

test("BullMQ takes every id, and finds the job under it again", async () => {
  const singles = parts.map((part) => makeJobId("mail", part)).concat(parts.map((part) => makeJobId(part)));
  const jobs = await emailQueue.addBulk(
    singles.map((jobId) => ({ name: "sendEmail", data: mailJob, opts: { jobId } })),
  );
  expect(jobs.map(({ id }) => id)).toEqual(singles);
  expect(await emailQueue.getWaitingCount()).toBe(new Set(singles).size);
  expect((await emailQueue.getJob(makeJobId("名前")))?.id).toBe(makeJobId("名前"));
});

test("a part that would be the same for everybody throws", () => {
  const make =
    (...list: unknown[]) =>
    () =>
      makeJobId(...(list as [string]));
  for (const part of ["", Number.NaN, Number.POSITIVE_INFINITY, undefined, null, {}, [], true]) {
    expect(make("a", part)).toThrow(TypeError);
    expect(make("a", part)).toThrow(/as part 1/);
  }
  expect(make()).toThrow("makeJobId: expected at least one part, got none.");
});

test("no id can be one of the records that BullMQ keeps beside the jobs", async () => {
  await emailQueue.waitUntilReady();
  const records = Object.keys(emailQueue.keys).filter(Boolean);
  expect(records).toContain("wait");
  for (const record of records) {
    expect(jobIdSchema.safeParse(record).success, record).toBe(false);
    expect(makeJobId(record)).not.toBe(record);
  }
  expect(makeJobId("waiting", "children")).not.toBe("waiting-children");
});
