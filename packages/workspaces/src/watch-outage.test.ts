import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { inspect } from "node:util";
import { redisConnectionOptions } from "@millrace/redis";
import { expect, test } from "vitest";
import { cleanUp, freshPrefix, onCleanUp, openDirectory, openWatch } from "../test/directories.ts";
import { ownRedis, wayTo } from "../test/way-to-redis.ts";
import { WorkspaceLookupError, type WorkspaceWatch, watchWorkspaces } from "./index.ts";

cleanUp();

const { REDIS_URL = "" } = process.env;
const recovery = { timeout: 10_000, interval: 20 };

/** How a look-up failed, or how the workspace stands, and how long it took to say so. */
async function outcome(watch: WorkspaceWatch, workspaceId = "w") {
  const startedAt = performance.now();
  const said = await Promise.resolve(watch.standingOf(workspaceId)).then(
    ({ standing }) => standing,
    (error: unknown) => error,
  );
  return { said, tookMs: performance.now() - startedAt };
}
const saidOf = (watch: WorkspaceWatch) => expect.poll(async () => (await outcome(watch)).said, recovery);

/** A workspace of ada's that a watch holds in memory, told over another way than the watch's. */
async function open(redisUrl = REDIS_URL) {
  const prefix = freshPrefix();
  const directory = openDirectory(prefix, redisUrl);
  await directory.assignWorkspace("w", "ada");
  const way = await wayTo(redisUrl);
  const outages: Error[] = [];
  const watch = openWatch(prefix, way.url, (error) => outages.push(error));
  await watch.ready;
  expect((await outcome(watch)).said).toBe("active");
  return { prefix, directory, way, watch, outages };
}

test("what changed while the connection was broken is effective after it, and the outage was told once", async () => {
  const { directory, way, watch, outages } = await open();
  await way.cut();
  await directory.blockOwner("ada");
  await saidOf(watch).toBeInstanceOf(WorkspaceLookupError);
  expect(outages).toHaveLength(1);
  await way.restore();
  await saidOf(watch).toBe("blocked");
  await way.cut();
  await directory.unblockOwner("ada");
  await saidOf(watch).toBeInstanceOf(WorkspaceLookupError);
  await way.restore();
  await saidOf(watch).toBe("active");
  expect(outages).toHaveLength(2);
});

test("a connection that dies without a word does not hide a block for longer than two seconds, and is replaced", async () => {
  const { directory, way, watch } = await open();
  way.silence();
  await directory.blockOwner("ada");
  const blockedAt = performance.now();
  for (let said: unknown = "active"; said === "active"; ) {
    const askedAt = performance.now();
    said = (await outcome(watch)).said;
    if (said === "active") expect(askedAt - blockedAt).toBeLessThan(2_000);
    await new Promise(setImmediate);
  }
  await saidOf(watch).toBe("blocked");
});

test("a Redis that freezes: look-ups fail in time instead of guessing, and work again when it goes on", async () => {
  const redis = await ownRedis();
  const { watch, outages } = await open(redis.url);
  process.kill(redis.pid, "SIGSTOP");
  onCleanUp(() => process.kill(redis.pid, "SIGCONT"));
  // New to this process, so Redis has to be asked.
  const { said, tookMs } = await outcome(watch, "another");
  expect(said).toMatchObject({
    name: "WorkspaceLookupError",
    failureKind: "contention",
    code: "workspace_lookup_failed",
  });
  expect(tookMs).toBeLessThan(1_500);
  await saidOf(watch).toBeInstanceOf(WorkspaceLookupError);
  expect((await outcome(watch)).tookMs).toBeLessThan(1_500);
  await expect.poll(() => outages, recovery).toHaveLength(1);
  process.kill(redis.pid, "SIGCONT");
  await saidOf(watch).toBe("active");
});

test("another Redis behind the same address is read anew, even where it counted the same number of changes", async () => {
  const { prefix, way, watch } = await open();
  const standby = await ownRedis();
  const directory = openDirectory(prefix, standby.url);
  await directory.blockOwner("ada");
  await way.cut();
  await way.restore(standby.url);
  await directory.assignWorkspace("w", "ada");
  await saidOf(watch).toBe("blocked");
  // The first answer may have come from Redis, this one comes from memory.
  expect((await outcome(watch)).said).toBe("blocked");
});

test("without Redis from the start look-ups fail in time, and it is ready by itself when Redis comes", async () => {
  const way = await wayTo(REDIS_URL);
  await way.cut();
  const outages: Error[] = [];
  const watch = openWatch(freshPrefix(), way.url, (error) => outages.push(error));
  const { said, tookMs } = await outcome(watch);
  expect(said).toBeInstanceOf(WorkspaceLookupError);
  expect(tookMs).toBeLessThan(1_500);
  await way.restore();
  await watch.ready;
  expect((await outcome(watch)).said).toBe("active");
  expect(outages.map((error) => "code" in error && error.code)).toEqual(["ECONNREFUSED"]);
});

test("a closed watch answers nothing, is ready for whoever still waits, and tells no outage", async () => {
  const outages: Error[] = [];
  const watch = openWatch(freshPrefix(), "redis://127.0.0.1:1", (error) => outages.push(error));
  watch.close();
  await watch.ready;
  expect((await outcome(watch)).said).toBeInstanceOf(WorkspaceLookupError);
  expect(outages).toEqual([]);
});

test("the password is nowhere in the error of a look-up", async () => {
  const server = createServer((client) => {
    client.on("error", () => {});
    client.on("data", (data) => {
      const commands = String(data).match(/\*\d+\r\n/g)?.length ?? 0;
      client.write("-WRONGPASS invalid username-password pair or user is disabled.\r\n".repeat(commands));
    });
  }).listen(0, "127.0.0.1");
  onCleanUp(() => server.close());
  await once(server, "listening");
  // A server that listens on host and port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const connection = redisConnectionOptions("worker", `redis://ada:hunter2@127.0.0.1:${port}`);
  const watch = watchWorkspaces({ connection, prefix: freshPrefix() });
  onCleanUp(watch.close);
  const { said } = await outcome(watch);
  expect(inspect(said, { depth: 10 })).toContain("WRONGPASS");
  expect(inspect(said, { depth: 10 })).not.toContain("hunter2");
});
