import { createHash } from "node:crypto";
import { createLogger } from "@millrace/logger";
import { ownKey } from "@millrace/redis";
import { defineQueue, parseJobSkip } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import { z } from "zod";
import { countCommands } from "../test/count-commands.ts";
import { useQueue } from "../test/use-queue.ts";
import { createRedisEffectStore } from "./redis-effect-store.ts";

const contract = defineQueue("default", {
  charge: {
    data: z.object({ order: z.string() }),
    result: z.object({ receipt: z.string() }),
    timeout: 10_000,
    idempotencyKey: ({ order }) => order,
  },
});
const { prefix, raw, work, add, stored, ended, finished } = useQueue(contract);

/** A service that counts what it was asked to do. */
function shop() {
  const charged: string[] = [];
  const charge = async ({ order }: { order: string }) => {
    charged.push(order);
    return { receipt: `receipt ${charged.length} of ${order}` };
  };
  return { charged, charge };
}

/** A log, and the errors in it. */
function errorLog() {
  const lines: object[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { lines, log: createLogger({ level: "error", format: "json", destination: { write } }) };
}

test("a second job with the same key is skipped and answers with the first one's result", async () => {
  const { charged, charge } = shop();
  await work({ charge });
  const first = await finished("charge", { order: "duplicate" });
  const second = await finished("charge", { order: "duplicate" });
  expect(first.returnvalue).toEqual({ receipt: "receipt 1 of duplicate" });
  expect(parseJobSkip(second.returnvalue)).toMatchObject({ code: "already_done", result: first.returnvalue });
  expect(charged).toEqual(["duplicate"]);
});

test("twins that run at once have one effect: one waits, and is skipped with the other's result", async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const { charged, charge } = shop();
  const slow = async (data: { order: string }) => {
    started.resolve();
    await finish.promise;
    return charge(data);
  };
  await work({ charge: slow });
  await work({ charge: slow });
  const ids = [await add("charge", { order: "twin" }), await add("charge", { order: "twin" })];
  await started.promise;
  const states = () => Promise.all(ids.map((id) => raw.getJobState(id)));
  await expect.poll(async () => (await states()).sort()).toEqual(["active", "delayed"]);
  finish.resolve();
  const returned = (await Promise.all(ids.map(ended))).map(({ returnvalue }) => returnvalue);
  const skips = returned.map(parseJobSkip);
  expect(skips.filter((skip) => skip?.code === "already_done")).toHaveLength(1);
  expect(skips.find(Boolean)?.result).toEqual({ receipt: "receipt 1 of twin" });
  expect(charged).toEqual(["twin"]);
});

test("an attempt that failed gives its claim up, so that the next one runs at once", async () => {
  const { charged, charge } = shop();
  let runs = 0;
  await work({
    charge: async (data) => {
      runs += 1;
      if (runs === 1) throw new Error("the service is away");
      return charge(data);
    },
  });
  const job = await finished("charge", { order: "retried" }, { attempts: 2 });
  expect([job.attemptsMade, job.attemptsStarted, charged]).toEqual([2, 2, ["retried"]]);
});

test("an attempt that timed out may still have its effect: the job itself tries again, and a twin waits", async () => {
  const ended: string[] = [];
  const timedOut = Promise.withResolvers<void>();
  await work({
    charge: async ({ order }, { attempt, jobId, signal }) => {
      if (attempt > 1) {
        ended.push(jobId);
        return { receipt: order };
      }
      signal.addEventListener("abort", () => timedOut.resolve());
      // It ignores its signal.
      return new Promise<never>(() => {});
    },
  });
  const first = await add("charge", { order: "slow" }, { timeoutMs: 50, retryIntervalsMs: [1_000] });
  await timedOut.promise;
  const twin = await add("charge", { order: "slow" });
  await expect.poll(async () => (await stored(twin)).attemptsStarted).toBeGreaterThan(0);
  await expect.poll(async () => (await stored(first)).returnvalue, { timeout: 15_000 }).toEqual({ receipt: "slow" });
  expect(ended).toEqual([first]);
});

test("a job that is replayed after its effect happened does not repeat it", async () => {
  const { charged, charge } = shop();
  await work({ charge });
  const { id = "" } = await finished("charge", { order: "replayed" });
  const job = await stored(id);
  await job.retry("completed");
  await expect
    .poll(async () => [await raw.getJobState(id), (await stored(id)).attemptsStarted], { timeout: 10_000 })
    .toEqual(["completed", 2]);
  const again = await stored(id);
  expect([again.returnvalue, charged]).toEqual([{ receipt: "receipt 1 of replayed" }, ["replayed"]]);
});

test("the window of a key does not depend on how long the job is kept", async () => {
  const { charged, charge } = shop();
  await work({ charge });
  const queued = { type: "charge", data: { order: "kept-nowhere" } };
  const options = { jobId: "kept-nowhere", removeOnComplete: true };
  for (let round = 0; round < 2; round++) {
    await raw.add("charge", queued, options);
    await expect.poll(() => raw.getJobState("kept-nowhere")).toBe("unknown");
  }
  expect(charged).toEqual(["kept-nowhere"]);
});

const effect = (order: string, owner: string, token: string) => ({ key: order, owner, token, start: 1 });
const store = () => createRedisEffectStore(raw.getBackend().client, prefix);

test("a claim, and a finish, is one command each", async () => {
  const effects = store();
  const warm = effect("warm", "job", "1");
  await effects.claim(warm, 10_000);
  await effects.finish(warm, "null", 10_000);
  const counted = effect("counted", "job", "1");
  expect(await countCommands(() => effects.claim(counted, 10_000))).toBe(1);
  expect(await countCommands(() => effects.finish(counted, "null", 10_000))).toBe(1);
});

/** What a job finds in the place of its effect, and when. */
async function spoil(order: string): Promise<void> {
  const client = await raw.getBackend().client;
  const key = JSON.stringify(["default", "charge", order]);
  const digest = createHash("sha256").update(key).digest("base64url");
  await client.runCommand("del", [ownKey(prefix, "idempotency", digest)]);
  await client.runCommand("rpush", [ownKey(prefix, "idempotency", digest), "no text"]);
}

test("a store that cannot be asked whether the effect has happened defers the job, which does not run", async () => {
  const { charged, charge } = shop();
  await spoil("unasked");
  await work({ charge });
  const jobId = await add("charge", { order: "unasked" });
  await expect.poll(() => raw.getJobState(jobId)).toBe("delayed");
  const { attemptsMade, attemptsStarted } = await stored(jobId);
  expect([attemptsMade, attemptsStarted, charged]).toEqual([0, 1, []]);
});

test("a store that cannot record that the effect has happened does not repeat it: the job completes, and the log says so", async () => {
  const { lines, log } = errorLog();
  const { charged, charge } = shop();
  const charging = async (data: { order: string }) => {
    await spoil(data.order);
    return charge(data);
  };
  await work({ charge: charging }, { log });
  const job = await finished("charge", { order: "unrecorded" });
  expect([await job.getState(), charged]).toEqual(["completed", ["unrecorded"]]);
  await expect
    .poll(() => lines)
    .toMatchObject([
      {
        code: "effect_not_recorded",
        queue: "default",
        action: "charge",
        jobId: job.id,
        err: { message: expect.any(String) },
      },
    ]);
});

test("a job whose effect another one has had meanwhile, since Redis had lost the claim, completes, and the log says that it happened twice", async () => {
  const { lines, log } = errorLog();
  const { charge } = shop();
  const overtaken = async (data: { order: string }) => {
    const key = JSON.stringify(["default", "charge", data.order]);
    const digest = ownKey(prefix, "idempotency", createHash("sha256").update(key).digest("base64url"));
    await (await raw.getBackend().client).runCommand("set", [digest, `d default/another ${'{"receipt":"theirs"}'}`]);
    return charge(data);
  };
  await work({ charge: overtaken }, { log });
  const job = await finished("charge", { order: "overtaken" });
  expect(job.returnvalue).toEqual({ receipt: "receipt 1 of overtaken" });
  await expect
    .poll(() => lines)
    .toMatchObject([{ code: "effect_repeated", queue: "default", action: "charge", jobId: job.id }]);
  // What is stored is the first one's, for whoever comes later.
  const later = await finished("charge", { order: "overtaken" });
  expect(parseJobSkip(later.returnvalue)).toMatchObject({ code: "already_done", result: { receipt: "theirs" } });
});
