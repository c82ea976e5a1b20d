import { expect, test } from "vitest";
import { allowPrivateSchema } from "./allow-private.ts";

test("private networks are reached where a variable says so, and in production never", () => {
  const development = allowPrivateSchema({ isProduction: false });
  expect([development.parse(undefined), development.parse("true")]).toEqual([false, true]);
  const production = allowPrivateSchema({ isProduction: true });
  expect([production.parse(undefined), production.parse("false")]).toEqual([false, false]);
  expect(production.safeParse("true").error?.message).toContain("expected false in production");
  expect(production.safeParse("perhaps").error?.message).toContain("expected true or false");
});
