import { ownKey } from "@millrace/redis";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { createRedisBackend } from "bullmq";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import type { JobContext } from "./job-context.ts";
import { promotePastBroken } from "./promote-past-broken.ts";

const contract = defineQueue("default", { run: { data: z.object({ text: z.string() }) } });
const { prefix, raw, work, add, ended } = useQueue(contract);
const quarantine = ownKey(prefix, "quarantine", "default");

async function redis(command: string, ...parameters: (string | number)[]) {
  return (await raw.getBackend().client).runCommand(command, parameters);
}

// Another kind of key in a record's place.
const putText = async (jobKey: string) => {
  await redis("del", jobKey);
  await redis("set", jobKey, "text");
};

test.each<[what: string, damage: (jobKey: string) => Promise<unknown>]>([
  ["record is another kind of key", putText],
  ["priority is no number", (key) => redis("hset", key, "priority", "nan")],
  ["record is gone", (key) => redis("del", key)],
])("a delayed job whose %s takes none of those along that are due with it", async (_, damage) => {
  const opts = { delay: 1 };
  const jobs = await raw.addBulk(
    Array.from({ length: 9 }, (_, index) => ({
      name: "run",
      data: { type: "run", data: { text: String(index) } },
      opts,
    })),
  );
  const [broken = "", ...sound] = jobs.map(({ id = "" }) => id);
  await damage(raw.toKey(broken));
  const ran: string[] = [];
  await work({
    run: async ({ text }) => {
      ran.push(text);
    },
  });
  for (const jobId of sound) expect(await (await ended(jobId)).getState()).toBe("completed");
  await expect.poll(() => redis("hexists", quarantine, broken)).toBe(1);
  expect(ran.sort()).toEqual(["1", "2", "3", "4", "5", "6", "7", "8"]);
});

test.each<[end: string, finish: () => Promise<void>]>([
  ["completes", async () => {}],
  ["is tried again at once", async () => Promise.reject(new Error("not yet"))],
])("a broken one that comes due with others while a job runs takes none along when that one %s", async (_, finish) => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const ran = new Set<string>();
  const run = async ({ text }: { text: string }, { attempt }: JobContext) => {
    ran.add(text);
    if (text !== "first" || attempt > 1) return;
    started.resolve();
    await release.promise;
    await finish();
  };
  await work({ run }, { concurrency: 1 });
  await add("run", { text: "first" }, { attempts: 2, retryIntervalsMs: [0] });
  await started.promise;
  const broken = await add("run", { text: "broken" }, { delayMs: 1 });
  await putText(raw.toKey(broken));
  const sound = [await add("run", { text: "a" }, { delayMs: 2 }), await add("run", { text: "b" }, { delayMs: 2 })];
  const addedAt = Date.now();
  await expect.poll(() => Date.now() - addedAt).toBeGreaterThan(2);
  release.resolve();
  for (const jobId of sound) expect(await (await ended(jobId)).getState()).toBe("completed");
  await expect.poll(() => redis("hexists", quarantine, broken)).toBe(1);
  expect([...ran].sort()).toEqual(["a", "b", "first"]);
});

test("each of BullMQ's scripts that promote delayed jobs is mended", async () => {
  const backend = createRedisBackend("default", { connection: getRedisConnection("worker") });
  const client = await backend.client;
  promotePastBroken(client);
  // ioredis' own.
  const { scriptsSet } = client as unknown as { scriptsSet: Record<string, { lua: string }> };
  const promoting = Object.entries(scriptsSet).filter(([, { lua }]) => lua.includes("function promoteDelayedJobs"));
  expect(promoting.map(([name]) => name.split(":")[0]).sort()).toEqual([
    "moveToActive",
    "moveToDelayed",
    "moveToFinished",
    "retryJob",
  ]);
  for (const [name, { lua }] of promoting) {
    const [, promotion = ""] = /function promoteDelayedJobs([\s\S]*?)\nend/.exec(lua) ?? [];
    expect([name, promotion.match(/(r|redis\.p)call\("H(GET|SET)"/g)]).toEqual([name, ['redis.pcall("HSET"']]);
    expect(promotion).toContain("millracePriority(jobKey)");
  }
  await backend.close();
});
