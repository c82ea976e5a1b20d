import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { KeeperAnswer } from "./keeper.ts";
import { runRedisServer } from "./redis-keeper-server.ts";

let folder: string;
let ending: AbortController;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-test-"));
  await writeFile(join(folder, "ports"), "");
  ending = new AbortController();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  ending.abort();
  await rm(folder, { recursive: true, force: true });
});

/** A program that notes the port it is given as a line in a file, and then does as `script` says. */
async function makeServer(script: string): Promise<string> {
  const command = join(folder, "redis-server");
  await writeFile(command, `#!/bin/sh\necho "$2" >> '${folder}/ports'\n${script}\n`);
  await chmod(command, 0o755);
  return command;
}

const ready = 'echo "* Ready to accept connections tcp"; exec sleep 60';
const taken = 'echo "# bind: Address already in use"; echo "# Failed listening, aborting."; exit 1';

test("another port is tried when the free one was taken in the meantime", async () => {
  const command = await makeServer(`if [ $(wc -l < '${folder}/ports') -lt 3 ]; then ${taken}; else ${ready}; fi`);
  const started = Promise.withResolvers<KeeperAnswer>();
  const onStarted = async (answer: KeeperAnswer) => started.resolve(answer);
  const run = runRedisServer({ kind: "server", command, appendOnly: false }, onStarted, ending.signal);
  expect(await started.promise).toMatchObject({ kind: "started", pid: expect.any(Number) });
  ending.abort();
  await expect(run).resolves.toBe("ended with SIGKILL");
});

test("a given port is tried once, and the error holds the server's own words", async () => {
  const command = await makeServer(taken);
  const order = { kind: "server", command, appendOnly: false, port: 4_321 } as const;
  await expect(runRedisServer(order, async () => {}, ending.signal)).rejects.toThrow(
    /redis-server ended with code 1 on port 4321, after: .*Address already in use.*aborting/,
  );
});

test("a server that does not come up for another reason is not tried again", async () => {
  const command = await makeServer(`[ $(wc -l < '${folder}/ports') -gt 1 ] && exit 2; echo "Bad directive"; exit 1`);
  const order = { kind: "server", command, appendOnly: false } as const;
  await expect(runRedisServer(order, async () => {}, ending.signal)).rejects.toThrow(/code 1 .*Bad directive/);
});

test("a program that cannot be run is an error that names it", async () => {
  const command = join(folder, "absent");
  const order = { kind: "server", command, appendOnly: false } as const;
  await expect(runRedisServer(order, async () => {}, ending.signal)).rejects.toThrow(/absent did not start: .*ENOENT/);
});

test("a data folder made for the server goes with it, and a given one stays", async () => {
  vi.stubEnv("TMPDIR", folder);
  const command = await makeServer("exit 0");
  const order = { kind: "server", command, appendOnly: false } as const;
  await expect(runRedisServer(order, async () => {}, ending.signal)).rejects.toThrow("code 0");
  expect((await readdir(folder)).sort()).toEqual(["ports", "redis-server"]);
  await expect(runRedisServer({ ...order, dataDir: folder }, async () => {}, ending.signal)).rejects.toThrow("code 0");
  expect((await readdir(folder)).sort()).toEqual(["ports", "redis-server"]);
});
