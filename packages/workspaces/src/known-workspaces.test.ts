import { expect, test } from "vitest";
import { applyChanges, createKnown, remember } from "./known-workspaces.ts";
import { createRecentAnswers } from "./recent-answers.ts";

const known = (version: number) =>
  createKnown({ version, blockedOwners: new Set(["mallory"]), goneWorkspaces: new Set(["old"]) });

test("an answer from before a change that is known already is not kept, one from after it is", () => {
  const held = known(7);
  applyChanges(held, { version: 8, changes: ["ownerAssigned w"] });
  remember(held, "owners", "w", { version: 7, answer: "the owner before" });
  expect(held.owners.get("w")).toBeUndefined();
  remember(held, "owners", "w", { version: 8, answer: "ada" });
  expect(held.owners.get("w")).toBe("ada");
  remember(held, "owners", "x", { version: 9, answer: "bob" });
  // Change 9 was the one to x, and is learnt after the answer.
  applyChanges(held, { version: 9, changes: ["ownerAssigned x"] });
  expect(held.owners.get("x")).toBeUndefined();
});

test("changes that were met while the sets were read, and are in them already, do no harm", () => {
  const held = known(3);
  const changes = ["ownerBlocked mallory", "deletionCancelled never", "ownerBlocked eve", "ownerUnblocked eve"];
  expect(applyChanges(held, { version: 7, changes })).toBe(true);
  expect([...held.blockedOwners]).toEqual(["mallory"]);
  expect(held.version).toBe(7);
});

test("an id may hold spaces", () => {
  const held = known(0);
  applyChanges(held, { version: 1, changes: ["ownerBlocked eve  the second "] });
  expect(held.blockedOwners.has("eve  the second ")).toBe(true);
});

test.each(["ownerRenamed x", "toString x", "__proto__ x", "", "ownerBlocked"])(
  "a change of a newer version (%j) is not passed over: the whole is read anew",
  (change) => {
    expect(applyChanges(known(0), { version: 1, changes: [change] })).toBe(false);
  },
);

test("beyond the limit the answer goes that was not used for longest", () => {
  const answers = createRecentAnswers(3);
  for (const key of ["a", "b", "c"]) answers.set(key, key);
  answers.get("a");
  answers.set("b", "again");
  answers.set("d", null);
  expect(["a", "b", "c", "d"].map((key) => answers.get(key))).toEqual(["a", "again", undefined, null]);
});
