import { createLogger } from "@millrace/logger";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { startNetwork } from "../test/network.ts";
import { useQueue } from "../test/use-queue.ts";

const contract = defineQueue("default", { run: { data: z.object({}) } });
const { work, add, ended } = useQueue(contract);

/** A way to Redis on which one command is refused, and the log of who uses it. */
async function without(command: string, refusal?: string) {
  const network = await startNetwork(getRedisConnection("worker"));
  const allow = network.forbid(command, refusal);
  const lines: { code?: string; msg: string }[] = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const log = createLogger({ level: "warn", format: "json", destination: { write } });
  const connection = { ...getRedisConnection("worker"), host: "127.0.0.1", port: network.port };
  return { network, allow, lines, settings: { connection, log } };
}

test("a worker that may not ask Redis for its version says what to grant, and takes no job", async () => {
  const { network, settings } = await without("info");
  await expect(work({ run: async () => {} }, settings)).rejects.toThrow(/may not run INFO.*\+info/s);
  network.close();
});

test("a worker that may not subscribe says that cancellations go unheard, and does its jobs", async () => {
  const { network, lines, settings } = await without("subscribe");
  await work({ run: async () => {} }, settings);
  expect(await (await ended(await add("run", {}))).getState()).toBe("completed");
  expect(lines).toMatchObject([{ code: "cancellations_unheard", msg: expect.stringContaining("SUBSCRIBE") }]);
  network.close();
});

test.each([
  "CLUSTERDOWN The cluster is down",
  "OOM command not allowed when used memory > 'maxmemory'.",
  "LOADING Redis is loading the dataset in memory",
])("a worker that starts while Redis refuses with '%s' waits until that is over, and says so once", async (refusal) => {
  const { network, allow, lines, settings } = await without("hdel", refusal);
  const working = work({ run: async () => {} }, settings);
  await expect.poll(() => lines).toMatchObject([{ msg: "worker error", err: { message: refusal } }]);
  allow();
  await working;
  expect(await (await ended(await add("run", {}))).getState()).toBe("completed");
  expect(lines).toHaveLength(1);
  network.close();
});

test("a worker that may not declare its queue's limits ends with what Redis says", async () => {
  const { network, settings } = await without("hdel");
  await expect(work({ run: async () => {} }, settings)).rejects.toThrow("NOPERM");
  network.close();
});
