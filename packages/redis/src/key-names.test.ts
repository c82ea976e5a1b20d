import { expect, test } from "vitest";
import { ownKey } from "./key-names.ts";

test("a key of our own lies under the prefix, beside the queues and never among them", () => {
  expect(ownKey("{millrace}", "lock", "nightly", "digest")).toBe("{millrace}:_lock:nightly:digest");
});
