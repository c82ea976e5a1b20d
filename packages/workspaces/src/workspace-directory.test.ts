import { createRedis } from "@millrace/redis";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { cleanUp, freshPrefix, onCleanUp, openDirectory, openWatch } from "../test/directories.ts";
import { createWorkspaceDirectory, type WorkspaceDirectory } from "./index.ts";

cleanUp();

const { REDIS_URL = "" } = process.env;
const effective = { timeout: 2_000, interval: 10 };
const integration = (id: string) => ({ kind: "integration", id });

/** A directory, and a client that looks into its keys. */
function open() {
  const prefix = freshPrefix();
  const redis = createRedis("worker", REDIS_URL, () => {});
  onCleanUp(() => redis.disconnect());
  const key = (name: string) => `${prefix}:_workspaces:${name}`;
  return { directory: openDirectory(prefix), watch: openWatch(prefix), redis, key };
}

test("telling the same twice changes nothing, so an application may tell all it knows again", async () => {
  const { directory, redis, key } = open();
  const tellAll = async () => {
    await directory.assignWorkspace("w", "ada");
    await directory.linkWorkspace(integration("i"), "w");
    await directory.blockOwner("ada");
    await directory.scheduleWorkspaceDeletion("w");
    await directory.unblockOwner("nobody");
    await directory.cancelWorkspaceDeletion("nothing");
    await directory.unlinkWorkspace(integration("none"));
  };
  await tellAll();
  expect(await redis.get(key("version"))).toBe("4");
  await tellAll();
  expect(await redis.get(key("version"))).toBe("4");
  expect(await redis.lrange(key("journal"), 0, -1)).toEqual([
    "ownerAssigned w",
    "linkChanged integration:i",
    "ownerBlocked ada",
    "deletionScheduled w",
  ]);
});

test("of a forgotten workspace nothing is left, and of another one everything", async () => {
  const { directory, redis, key } = open();
  for (const id of ["w", "kept"]) {
    await directory.assignWorkspace(id, "ada");
    await directory.linkWorkspace(integration(`of-${id}`), id);
    await directory.scheduleWorkspaceDeletion(id);
  }
  await directory.linkWorkspace(integration("moved"), "w");
  await directory.linkWorkspace(integration("moved"), "kept");
  await directory.linkWorkspace(integration("unlinked"), "w");
  await directory.unlinkWorkspace(integration("unlinked"));
  await directory.forgetWorkspace("w");
  expect(await redis.hgetall(key("owners"))).toEqual({ kept: "ada" });
  expect(await redis.hgetall(key("links"))).toEqual({ "integration:of-kept": "kept", "integration:moved": "kept" });
  expect(await redis.smembers(key("gone"))).toEqual(["kept"]);
  expect(await redis.exists(key("linked:w"))).toBe(0);
});

test("a workspace whose deletion was cancelled meanwhile is not forgotten", async () => {
  const { directory, redis, key } = open();
  await directory.assignWorkspace("w", "ada");
  await directory.scheduleWorkspaceDeletion("w");
  await directory.cancelWorkspaceDeletion("w");
  expect(await directory.forgetWorkspace("w")).toBe(false);
  expect(await redis.hget(key("owners"), "w")).toBe("ada");
  expect(await redis.get(key("version"))).toBe("3");
  await directory.scheduleWorkspaceDeletion("w");
  expect(await directory.forgetWorkspace("w")).toBe(true);
  expect(await redis.hget(key("owners"), "w")).toBeNull();
});

test("a deletion of which no time is known is named as well, and counts from when it is named or told again", async () => {
  const { directory, redis, key } = open();
  await redis.sadd(key("gone"), "told", "untold");
  await directory.scheduleWorkspaceDeletion("told");
  await redis.hset(key("gone-since"), "told", Date.now() - 5_000);
  const named = new Map<string, number>();
  for await (const { workspaceId, forMs } of directory.scheduledDeletions()) named.set(workspaceId, forMs);
  expect(named.get("untold")).toBe(0);
  expect(named.get("told")).toBeGreaterThan(3_000);
  expect(await redis.hkeys(key("gone-since"))).toEqual(["told", "untold"]);
});

test("the journal keeps the latest 10,000 changes and no more", async () => {
  const { directory, redis, key } = open();
  await directory.assignWorkspace("w", "ada");
  await redis.rpush(key("journal"), ...Array.from({ length: 10_050 }, (_, index) => `ownerAssigned ${index}`));
  await directory.blockOwner("ada");
  expect(await redis.llen(key("journal"))).toBe(10_000);
  expect(await redis.lindex(key("journal"), -1)).toBe("ownerBlocked ada");
});

test("a watch that is further behind than the journal reads the whole again", async () => {
  const { directory, watch, redis, key } = open();
  await directory.assignWorkspace("w", "ada");
  await watch.ready;
  expect(await watch.standingOf("w")).toEqual({ standing: "active" });
  // As more changes than the journal keeps would leave it, the block among those that fell out.
  await redis.multi().sadd(key("blocked"), "ada").incrby(key("version"), 10_050).del(key("journal")).exec();
  await expect.poll(() => watch.standingOf("w"), effective).toEqual({ standing: "blocked", ownerId: "ada" });
});

test("emptying Redis is noticed, though nothing was told", async () => {
  const { directory, watch, redis, key } = open();
  await directory.assignWorkspace("w", "ada");
  await directory.blockOwner("ada");
  await watch.ready;
  await expect.poll(() => watch.standingOf("w"), effective).toEqual({ standing: "blocked", ownerId: "ada" });
  await redis.del(["version", "journal", "owners", "blocked"].map(key));
  await expect.poll(() => watch.standingOf("w"), effective).toEqual({ standing: "active" });
});

const wrongIds: [string, unknown, RegExp][] = [
  ["nothing", "", /an empty one/],
  ["a line break", "a\nb", /one with a control character/],
  ["a null byte", "a\0b", /one with a control character/],
  ["too much", "x".repeat(257), /257 characters/],
  ["half a character", "a\ud800", /lone surrogate/],
  ["a number", 7, /got number/],
  ["null", null, /got null/],
];
const calls: [string, (directory: WorkspaceDirectory, id: string) => Promise<unknown>][] = [
  ["workspaceId", (directory, id) => directory.assignWorkspace(id, "ada")],
  ["ownerId", (directory, id) => directory.assignWorkspace("w", id)],
  ["ownerId", (directory, id) => directory.blockOwner(id)],
  ["ownerId", (directory, id) => directory.unblockOwner(id)],
  ["workspaceId", (directory, id) => directory.scheduleWorkspaceDeletion(id)],
  ["workspaceId", (directory, id) => directory.cancelWorkspaceDeletion(id)],
  ["workspaceId", (directory, id) => directory.forgetWorkspace(id)],
  ["workspaceId", (directory, id) => directory.linkWorkspace(integration("i"), id)],
  ["reference.id", (directory, id) => directory.linkWorkspace(integration(id), "w")],
  ["reference.id", (directory, id) => directory.unlinkWorkspace(integration(id))],
];

test.each(wrongIds)(
  "an id that is %s is refused by every call with its name, and nothing is written",
  async (_, id, got) => {
    const { directory, watch, redis, key } = open();
    for (const [argument, call] of calls) {
      // What a caller without types can pass.
      const refused = expect(call(directory, id as string)).rejects;
      await refused.toThrow(got);
      await expect(call(directory, id as string)).rejects.toThrow(`${argument}: expected 1 to 256 characters`);
    }
    expect(await redis.exists(key("version"))).toBe(0);
    // The same id in a job is one that nobody told about.
    expect(await watch.standingOf(id as string)).toEqual({ standing: "active" });
    expect(await watch.workspaceOf(integration(id as string))).toBeUndefined();
  },
);

test.each(["", "1st", "a:b", "a b", "ä", "x".repeat(65)])("a kind %j is refused, told or asked", async (kind) => {
  const { directory, watch } = open();
  const wrong = /^reference.kind: expected a letter, then up to 63 letters, digits or "-"/;
  await expect(directory.linkWorkspace({ kind, id: "i" }, "w")).rejects.toThrow(wrong);
  await expect(watch.workspaceOf({ kind, id: "i" })).rejects.toThrow(wrong);
});

test("an id is taken for what it is, whatever it looks like", async () => {
  const { directory, watch } = open();
  const odd = [
    "__proto__",
    "a:b",
    "a b ",
    "w}{x",
    "*",
    "\\u0000",
    "😀",
    '"; redis.call("FLUSHALL") --',
    "x".repeat(256),
  ];
  for (const id of odd) {
    await directory.assignWorkspace(id, `owner ${id}`.slice(0, 256));
    await directory.linkWorkspace(integration(id), id);
  }
  await directory.blockOwner("owner __proto__");
  await watch.ready;
  for (const id of odd) {
    expect((await watch.standingOf(id)).standing).toBe(id === "__proto__" ? "blocked" : "active");
    expect(await watch.workspaceOf(integration(id))).toBe(id);
  }
});

test("a client with a key prefix of its own is refused: the workers would look elsewhere", () => {
  const redis = new Redis({ keyPrefix: "app:", lazyConnect: true });
  expect(() => createWorkspaceDirectory({ redis, prefix: "{p}" })).toThrow(/without keyPrefix/);
});
