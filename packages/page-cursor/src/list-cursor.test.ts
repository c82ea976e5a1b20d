import { expect, test } from "vitest";
import { countedPlace, listCursor, namedPlace } from "./list-cursor.ts";

const named = listCursor("templates", namedPlace);
const counted = listCursor("steps", countedPlace);

test("a list goes on where its page ended, with the longest place that there is, and has no cursor at its end", () => {
  for (const place of ["a", "😀".repeat(400)]) expect(named.schema.parse(named.at(place))).toBe(place);
  expect(counted.schema.parse(counted.at("9".repeat(18)))).toBe("9".repeat(18));
  expect([named.at(null), named.at(undefined)]).toEqual([null, null]);
});

test.each([
  ["another list's", counted, named.at("7")],
  ["a number that PostgreSQL does not hold", counted, counted.at("9".repeat(19))],
  ["a text with a NUL, which PostgreSQL refuses", named, named.at("a\0b")],
  ["a text longer than any of ours", named, named.at("a".repeat(401))],
  ["more than any page returned", named, Buffer.from(JSON.stringify(["templates", "a", "b"])).toString("base64url")],
  ["nothing", named, ""],
])("a cursor that holds %s is a wrong argument, and no error of a database", (_, { schema }, cursor) => {
  expect(schema.safeParse(cursor).success).toBe(false);
});
