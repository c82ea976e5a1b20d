import { createLogger } from "@millrace/logger";
import { defineQueue } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { PermanentError } from "./job-error.ts";

const contract = defineQueue("default", {
  complete: { data: z.object({}) },
  retry: { data: z.object({}) },
  fail: { data: z.object({}) },
});
const { raw, work, add, ended } = useQueue(contract);

/** Handlers that count how often they ran. */
function counted() {
  const runs = { complete: 0, retry: 0, fail: 0 };
  const handlers = {
    complete: async () => {
      runs.complete += 1;
    },
    retry: async () => {
      runs.retry += 1;
      if (runs.retry === 1) throw new Error("not yet");
    },
    fail: async () => {
      runs.fail += 1;
      throw new PermanentError("no");
    },
  };
  return { runs, handlers };
}

test("a worker offers no listeners, so nobody can lose dead letters in one that rejects: they are written with the job's end", async () => {
  const { handlers } = counted();
  const worker = await work(handlers);
  expect(Object.keys(worker).sort()).toEqual([
    "clockSkewMs",
    "isReady",
    "isWedged",
    "jobs",
    "redisAnswers",
    "stop",
    "untilReady",
  ]);
  const jobId = await add("fail", {});
  expect(await (await ended(jobId)).getState()).toBe("failed");
  expect(await raw.getFailed()).toMatchObject([{ id: jobId }]);
});

test("a log that cannot be written costs lines and no job: each comes to its own end, once, and the process lives", async () => {
  const { runs, handlers } = counted();
  const write = () => {
    throw new Error("ENOSPC: no space left on device");
  };
  await work(handlers, { log: createLogger({ level: "trace", format: "json", destination: { write } }) });
  const ids = [await add("complete", {}), await add("retry", {}), await add("fail", {})];
  const states = await Promise.all(ids.map(async (id) => (await ended(id)).getState()));
  expect([states, runs]).toEqual([["completed", "completed", "failed"], { complete: 1, retry: 2, fail: 1 }]);
});

test("an error of BullMQ's own emitter is a line in the log, and the other jobs go on", async () => {
  const messages: string[] = [];
  const write = (line: string) => messages.push(JSON.parse(line).msg);
  const client = await raw.getBackend().client;
  const scheduled = await add("complete", {});
  const opts = JSON.stringify({ repeat: { pattern: "* * * * *" } });
  await client.runCommand("hset", [raw.toKey(scheduled), "rjk", "broken", "opts", opts]);
  await client.runCommand("zadd", [raw.toKey("repeat"), 1, "broken"]);
  await client.runCommand("set", [raw.toKey("repeat:broken"), "no scheduler"]);
  await work(counted().handlers, {
    log: createLogger({ level: "error", format: "json", destination: { write } }),
  });
  await expect.poll(() => messages, { timeout: 25_000 }).toContain("worker error");
  expect(await (await ended(await add("complete", {}))).getState()).toBe("completed");
});
