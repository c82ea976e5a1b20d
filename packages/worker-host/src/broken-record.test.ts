import { ownKey } from "@millrace/redis";
import { getRedisConnection } from "@millrace/worker-config";
import { defineQueue } from "@millrace/worker-config/contracts";
import { createRedisBackend, type QueueOptions } from "bullmq";
import { expect, test } from "vitest";
import { z } from "zod";
import { useQueue } from "../test/use-queue.ts";
import { guardFetches } from "./guard-fetches.ts";
import { PermanentError } from "./job-error.ts";

const contract = defineQueue("default", { run: { data: z.object({ text: z.string() }) } });
const { prefix, raw, work, add, ended } = useQueue(contract);
const quarantine = ownKey(prefix, "quarantine", "default");

async function redis(command: string, ...parameters: (string | number)[]) {
  return (await raw.getBackend().client).runCommand(command, parameters);
}

const set = (field: string, value: string) => (key: string) => redis("hset", key, field, value);
const setOptions = (opts: object) => set("opts", JSON.stringify(opts));
const replace = async (key: string, ...command: [string, ...(string | number)[]]) => {
  await redis("del", key);
  await redis(command[0], key, ...command.slice(1));
};

/** By what each would stop: the fetch, the making of a schedule's next run, or the job's own end, halfway. */
const damages: [what: string, damage: (jobKey: string) => Promise<unknown>][] = [
  ["its count of starts is no number", set("ats", "abc")],
  ["its count of starts is empty", set("ats", "")],
  ["its count of starts is too great to be counted on", set("ats", "9223372036854775807")],
  ["it names a schedule and holds none", set("rjk", "gone")],
  [
    "its schedule has a pattern that is none",
    (key) => redis("hset", key, "rjk", "daily", "opts", JSON.stringify({ repeat: { pattern: "every day" } })),
  ],
  [
    "its schedule comes again after no time at all",
    (key) => redis("hset", key, "rjk", "daily", "opts", JSON.stringify({ repeat: { every: 0 } })),
  ],
  [
    "its schedule has both a pattern and an interval",
    (key) =>
      redis("hset", key, "rjk", "daily", "opts", JSON.stringify({ repeat: { every: 1_000, pattern: "* * * * *" } })),
  ],
  ["it names a parent's key and no parent", set("parentKey", "nowhere")],
  ["it names a parent and no parent's key", set("parent", JSON.stringify({ id: "p", queueKey: `${prefix}:default` }))],
  ["its parent has no queue", (key) => redis("hset", key, "parent", '{"id":"p"}', "parentKey", `${prefix}:default:p`)],
  ["its count of attempts is no whole number", set("atm", "1.0")],
  ["its count of stalls is no number", set("stc", "abc")],
  ["its priority is no number", set("priority", "nan")],
  ["it bears another job's id", set("id", "other")],
];

async function runAround(
  damage: (jobKey: string) => Promise<unknown>,
  worked: typeof contract = contract,
  handle: () => Promise<void> = async () => {},
) {
  const ran: string[] = [];
  const before = await add("run", { text: "before" });
  const jobId = await add("run", { text: "damaged" });
  await damage(raw.toKey(jobId));
  const after = await add("run", { text: "after" });
  const run = async ({ text }: { text: string }) => {
    ran.push(text);
    if (text === "damaged") await handle();
  };
  await work({ run }, { concurrency: 1 }, worked);
  for (const sound of [before, after]) expect(await (await ended(sound)).getState()).toBe("completed");
  await expect.poll(() => redis("hexists", quarantine, jobId)).toBe(1);
  const counts = await raw.getJobCounts("active", "waiting", "delayed");
  expect([counts, await redis("exists", raw.toKey(jobId))]).toEqual([{ active: 0, waiting: 0, delayed: 0 }, 0]);
  return { ran, entry: JSON.parse(String(await redis("hget", quarantine, jobId))) };
}

test.each(damages)("where %s, the job is quarantined and those around it are done", async (_, damage) => {
  expect((await runAround(damage)).ran).toEqual(["before", "after"]);
});

test.each<[what: string, kind: string, value: string, damage: (jobKey: string) => Promise<unknown>]>([
  ["a text", "string", "text", (key) => replace(key, "set", "text")],
  ["a list", "list", '["a","b"]', (key) => replace(key, "rpush", "a", "b")],
  ["a sorted set", "zset", '["a","1"]', (key) => replace(key, "zadd", 1, "a")],
])("where %s lies in a record's place, the quarantine keeps what it holds", async (_, kind, value, damage) => {
  const { ran, entry } = await runAround(damage);
  expect(ran).toEqual(["before", "after"]);
  expect(entry).toMatchObject({ reason: "corrupt", kind, fields: { value } });
});

test("a rate limit, for which BullMQ looks at a record before it locks it, changes nothing of this", async () => {
  const limited = defineQueue("default", contract.actions, { rateLimit: { max: 1_000, durationMs: 1_000 } });
  expect((await runAround((key) => replace(key, "set", "text"), limited)).ran).toEqual(["before", "after"]);
});

test.each<[what: string, first: () => Promise<void>, state: string]>([
  ["completion", async () => {}, "completed"],
  ["failure", async () => Promise.reject(new PermanentError("no")), "failed"],
  ["retry", async () => Promise.reject(new Error("not yet")), "failed"],
])("a broken record that comes with another job's %s leaves that job its own end", async (_, first, state) => {
  const jobId = await add("run", { text: "first" });
  const broken = await add("run", { text: "damaged" });
  await set("ats", "abc")(raw.toKey(broken));
  await work({ run: first }, { concurrency: 1 });
  expect(await (await ended(jobId)).getState()).toBe(state);
  await expect.poll(() => redis("hexists", quarantine, broken)).toBe(1);
});

test("a broken record that is fetched alone holds up no job that comes later", async () => {
  const broken = await add("run", { text: "damaged" });
  await set("ats", "abc")(raw.toKey(broken));
  await work({ run: async () => {} }, { concurrency: 1 });
  await expect.poll(() => redis("hexists", quarantine, broken)).toBe(1);
  expect(await (await ended(await add("run", { text: "later" }))).getState()).toBe("completed");
});

test.each([{ every: 50 }, { pattern: "* * * * * *" }])(
  "a sound schedule goes on from run to run: %o",
  async (repeat) => {
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    await raw.upsertJobScheduler("tick", repeat, { name: "run", data: { type: "run", data: { text: "tick" } } });
    await work({ run });
    await expect.poll(() => runs, { timeout: 10_000 }).toBeGreaterThan(1);
    await raw.removeJobScheduler("tick");
  },
);

const link = { id: "parent", queueKey: `${prefix}:default` };
const parentKey = `${link.queueKey}:${link.id}`;

const breakLink = async (key: string) => {
  await redis("hset", key, "parent", JSON.stringify({ ...link, fpof: true }), "parentKey", parentKey);
  await redis("set", `${parentKey}:dependencies`, "text");
};

test.each<[what: string, damage: (jobKey: string) => Promise<unknown>, handle?: () => Promise<void>]>([
  ["completion fails halfway because its parent's list of children is none", breakLink],
  ["completion fails halfway because nobody can say how long to keep it", setOptions({ removeOnComplete: null })],
  [
    "failure fails halfway because its parent's list of children is none",
    breakLink,
    async () => Promise.reject(new PermanentError("no")),
  ],
])("a job whose %s is quarantined and runs no second time", async (_, damage, handle) => {
  expect((await runAround(damage, contract, handle)).ran).toEqual(["before", "damaged", "after"]);
});

/** A backend on which the commands fail that fetch a job, also beside the end of another. */
function refusedWith(message: string) {
  const options: QueueOptions = { connection: getRedisConnection("worker"), prefix };
  const backend = createRedisBackend("default", options);
  const error = Object.assign(new Error(message), { name: "ReplyError" });
  backend.moveToActive = async () => Promise.reject(error);
  backend.moveToDelayed = async () => Promise.reject(error);
  guardFetches(backend);
  return { backend, error };
}

test.each([
  ["WRONGTYPE Operation against a key holding the wrong kind of value", true],
  ["ERR hash value is not an integer", true],
  ["ERR Error running script: @user_script: 1: -WRONGTYPE Operation against a key", true],
  ["OOM command not allowed when used memory > 'maxmemory'.", false],
  ["READONLY You can't write against a read only replica.", false],
  ["NOPERM this user has no permissions to run the 'hincrby' command", false],
  ["ERR Error running script: @user_script: 1: -OOM command not allowed when used memory", false],
  ["ERR unknown command 'evalsha'", false],
])(
  "a broken job that a fetch left behind comes to light, and none that another worker holds, after '%s': %s",
  async (message, isData) => {
    await redis("set", raw.toKey("broken"), "text");
    // Who holds this one's lock is at it.
    await redis("set", raw.toKey("held"), "text");
    await redis("set", raw.toKey("held:lock"), "another's token");
    await redis("rpush", raw.toKey("active"), "held", "broken");
    const { backend, error } = refusedWith(message);
    const fetched = backend.moveToActive("token");
    if (isData) expect(await fetched).toMatchObject([{ name: "" }, "broken", 0, 0]);
    else await expect(fetched).rejects.toBe(error);
    expect(await redis("exists", raw.toKey("broken:lock"))).toBe(isData ? 1 : 0);
    expect(await redis("get", raw.toKey("held:lock"))).toBe("another's token");
    await redis("del", ...["broken", "broken:lock", "held", "held:lock", "active"].map((key) => raw.toKey(key)));
    await backend.close();
  },
);

test("a key of the queue's own that stands among its active jobs is not taken for one, and so not taken away", async () => {
  await add("run", { text: "waits" });
  await redis("rpush", raw.toKey("active"), "wait");
  const { backend, error } = refusedWith("ERR hash value is not an integer");
  await expect(backend.moveToActive("token")).rejects.toBe(error);
  expect(await raw.getWaitingCount()).toBe(1);
  await redis("del", raw.toKey("active"), raw.toKey("wait:lock"));
  await backend.close();
});

test("a job whose end left it in no list is active until it is quarantined, so that a worker that dies meanwhile does not lose it", async () => {
  const jobId = await add("run", { text: "ended" });
  await redis("lrem", raw.toKey("wait"), 1, jobId);
  const { backend } = refusedWith("WRONGTYPE Operation against a key holding the wrong kind of value");
  expect(await backend.moveToDelayed(jobId, 0, 0, "token")).toMatchObject([{ name: "" }, jobId, 0, 0]);
  expect(await redis("lrange", raw.toKey("active"), 0, -1)).toEqual([jobId]);
  await redis("del", raw.toKey("active"), raw.toKey(`${jobId}:lock`));
  await backend.close();
});
