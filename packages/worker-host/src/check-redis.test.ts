import { createLogger } from "@millrace/logger";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { checkRedis } from "./check-redis.ts";

const contract = defineQueue("default", { run: { data: z.object({}) } });
const { raw, work, add } = useQueue(contract);

/** What a Redis says of itself is a text: one with another policy, or with no answer, need not be started. */
async function check(info: string | Error, isProduction: boolean): Promise<string[]> {
  const codes: string[] = [];
  const log = createLogger({
    level: "warn",
    format: "json",
    destination: { write: (line) => codes.push(JSON.parse(line).code) },
  });
  const client = Object.create(await raw.getBackend().client, {
    runCommand: {
      value: async () => {
        if (info instanceof Error) throw info;
        return info;
      },
    },
  });
  await checkRedis(client, isProduction, log);
  return codes;
}

test("a Redis that may evict jobs is refused in production, with what to do, and warned of elsewhere", async () => {
  const evicting = "# Memory\r\nmaxmemory_policy:allkeys-lru\r\naof_enabled:1\r\n";
  await expect(check(evicting, true)).rejects.toThrow("expected maxmemory-policy noeviction, got allkeys-lru");
  expect(await check(evicting, false)).toEqual(["redis_evicts"]);
});

test("a Redis that does not say is warned of once, and its jobs are taken", async () => {
  const forbidden = Object.assign(new Error("NOPERM"), { name: "ReplyError" });
  expect(await check(forbidden, true)).toEqual(["redis_unknown"]);
});

test("a Redis without an append-only file is warned of in production", async () => {
  const volatile = "maxmemory_policy:noeviction\r\naof_enabled:0\r\n";
  expect(await check(volatile, true)).toEqual(["redis_not_durable"]);
  expect(await check(volatile, false)).toEqual([]);
});

test("the tests' own Redis is one that evicts nothing", async () => {
  const codes: string[] = [];
  const log = createLogger({
    level: "warn",
    format: "json",
    destination: { write: (line) => codes.push(JSON.parse(line).code) },
  });
  await checkRedis(await raw.getBackend().client, false, log);
  expect(codes).not.toContain("redis_evicts");
});

test("a worker whose Redis was refused takes no job and says why to whoever waits for it", async () => {
  const jobId = await add("run", {});
  const refusing = async () => {
    throw new Error("refused");
  };
  await expect(work({ run: async () => {} }, { prepare: refusing })).rejects.toThrow("refused");
  expect(await raw.getJobState(jobId)).toBe("waiting");
});
