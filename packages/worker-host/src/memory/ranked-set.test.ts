import { expect, test } from "vitest";
import { createRankedSet } from "./ranked-set.ts";

test("members come out by rank, and those of one rank in the order of their arrival", () => {
  const set = createRankedSet<{ name: string }>();
  const names = [
    ["b1", 2],
    ["a1", 1],
    ["b2", 2],
    ["a2", 1],
  ] as const;
  for (const [name, rank] of names) set.add({ name }, rank);
  const out: string[] = [];
  for (let first = set.first(); first; first = set.first()) {
    out.push(first.name);
    set.delete(first);
  }
  expect([out, set.size, set.lowestRank()]).toEqual([["a1", "a2", "b1", "b2"], 0, Number.POSITIVE_INFINITY]);
});

test("one that is added again has its new rank alone, and one that never came can be deleted", () => {
  const set = createRankedSet<{ name: string }>();
  const [moved, other] = [{ name: "moved" }, { name: "other" }];
  set.add(moved, 1);
  set.add(other, 2);
  set.add(moved, 3);
  set.delete({ name: "stranger" });
  expect([set.size, set.first(), set.lowestRank()]).toEqual([2, other, 2]);
});

test("whoever leaves from anywhere, the order of the others stays", () => {
  // A fixed sequence that looks random: the same on every run.
  let state = 7;
  const next = (limit: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
  const set = createRankedSet<{ rank: number; arrival: number }>();
  const members: { rank: number; arrival: number }[] = [];
  for (let arrival = 0; arrival < 2_000; arrival++) {
    const member = { rank: next(50), arrival };
    set.add(member, member.rank);
    members.push(member);
    if (arrival % 3 === 0) for (const gone of members.splice(next(members.length), 1)) set.delete(gone);
  }
  members.sort((a, b) => a.rank - b.rank || a.arrival - b.arrival);
  for (const member of members) {
    expect(set.first()).toBe(member);
    set.delete(member);
  }
  expect(set.size).toBe(0);
});
