import { expect, test } from "vitest";
import { z } from "zod";
import { findUnknownKey } from "./find-unknown-key.ts";

const place = z.object({ city: z.string() });
interface Tree {
  readonly children?: readonly Tree[] | undefined;
}
const tree: z.ZodType<Tree> = z.object({ children: z.lazy(() => z.array(tree)).optional() });
const shape = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("circle"), radius: z.number() }),
  z.object({ kind: z.literal("square"), side: z.number() }),
]);

test.each<[where: string, schema: z.ZodType, value: unknown, path: string]>([
  ["the top", place, { city: "x", zip: "1" }, "data"],
  ["an object", z.object({ place }), { place: { city: "x", zip: "1" } }, "data.place"],
  ["a list", z.array(place), [{ city: "x" }, { city: "x", zip: "1" }], "data.1"],
  ["a tuple", z.tuple([z.string(), place]), ["a", { city: "x", zip: "1" }], "data.1"],
  ["a record", z.record(z.string(), place), { home: { city: "x", zip: "1" } }, "data.home"],
  ["an optional part", z.object({ place: place.optional() }), { place: { city: "x", zip: "1" } }, "data.place"],
  [
    "a part with a default",
    z.object({ place: place.default({ city: "y" }) }),
    { place: { city: "x", zip: "1" } },
    "data.place",
  ],
  ["a nullable, read-only part", place.nullable().readonly(), { city: "x", zip: "1" }, "data"],
  ["what is transformed", place.transform(({ city }) => city), { city: "x", zip: "1" }, "data"],
  ["one of several", shape, { kind: "circle", radius: 1, zip: "1" }, "data"],
  [
    "one of several kinds",
    z.union([z.string(), z.array(z.string()), place.optional()]),
    { city: "x", zip: "1" },
    "data",
  ],
  ["beside any JSON", z.object({ any: z.json(), place }), { any: [{}], place: { city: "x", zip: "1" } }, "data.place"],
  ["a tree", tree, { children: [{ children: [{ zip: "1" }] }] }, "data.children.0.children.0"],
])("a key that the schema does not name is found in %s", (_, schema, value, path) => {
  expect(schema.safeParse(value).success).toBe(true);
  expect(findUnknownKey(schema, value, "data")).toEqual({ path, message: 'Unrecognized key: "zip"' });
});

test.each<[what: string, schema: z.ZodType, value: unknown]>([
  ["names every key", z.object({ place, shape }), { place: { city: "x" }, shape: { kind: "square", side: 1 } }],
  ["takes any key", z.looseObject({ city: z.string() }), { city: "x", zip: "1" }],
  [
    "has another form that names it",
    z.union([place, z.object({ city: z.string(), zip: z.string() })]),
    { city: "x", zip: "1" },
  ],
  ["is left out", z.object({ place: place.optional(), list: z.array(place).nullable() }), { list: null }],
  ["takes any JSON as well", z.union([place, z.json()]), { city: "x", zip: "1" }],
  ["is no object", z.union([z.string(), place]), "text"],
])("nothing is found where the schema %s", (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(true);
  expect(findUnknownKey(schema, value, "data")).toBeUndefined();
});

test("the time to look grows with the value, and is less than that of the parse", () => {
  const schema = z.object({ any: z.json() });
  const value = { any: [Array.from({ length: 5_000 }, (_, index) => ({ index, text: "x" }))] };
  const parseMs = took(() => expect(schema.safeParse(value).success).toBe(true));
  expect(took(() => findUnknownKey(schema, value, "data"))).toBeLessThan(parseMs);
});

test("the option of a union that an object belongs to is told without parsing its leaves", () => {
  let parsed = 0;
  const leaf = z.string().refine(() => {
    parsed += 1;
    return true;
  });
  interface Node {
    readonly kind: "branch" | "leaf";
  }
  const branch = z.object({ kind: z.literal("branch"), nodes: z.lazy(() => z.array(node)) });
  const node: z.ZodType<Node> = z.discriminatedUnion("kind", [branch, z.object({ kind: z.literal("leaf"), leaf })]);
  const list = z.union([z.string(), node, z.array(node)]);
  const value = [{ kind: "branch", nodes: [{ kind: "leaf", leaf: "x" }] }];
  expect(list.safeParse(value).success).toBe(true);
  const parsedByZod = parsed;
  expect(findUnknownKey(list, value, "data")).toBeUndefined();
  expect(parsed).toBe(parsedByZod);
});

function took(work: () => unknown): number {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}
