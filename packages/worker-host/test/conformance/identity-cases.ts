import type { EnqueueOptions } from "@millrace/worker-config/contracts";
import { expect, test } from "vitest";
import type { JobContext } from "../../src/job-context.ts";
import { contract, type Engine, untilEnded } from "./engine.ts";

const again = { key: "k", mode: "again" } as const;
const drop = { key: "k", mode: "drop" } as const;
const latest = { key: "k", mode: "latest" } as const;

interface Refusal {
  readonly action?: string;
  readonly data?: unknown;
  readonly options?: unknown;
  readonly code: string;
  /** Those that the error names. */
  readonly fields: readonly string[];
}

const refusals: readonly Refusal[] = [
  { action: "walk", code: "unknown_action", fields: [] },
  { data: { text: 5 }, code: "invalid_data", fields: ["data.text"] },
  { data: { text: "a", delay: 5 }, code: "invalid_data", fields: ["data"] },
  { data: { text: "a", when: new Date(0) }, code: "invalid_data", fields: ["data.when"] },
  { data: JSON.parse('{ "text": "a", "__proto__": {} }'), code: "invalid_data", fields: ["data.__proto__"] },
  { data: { text: "a".repeat(300_000) }, code: "payload_too_large", fields: [] },
  { options: { delay: 5 }, code: "invalid_options", fields: ["options"] },
  { options: { delayMs: Number.NaN }, code: "invalid_options", fields: ["options.delayMs"] },
  { options: { jobId: "wait" }, code: "invalid_options", fields: ["options.jobId"] },
  { options: { jobId: "x", dedupe: drop }, code: "invalid_options", fields: ["options.dedupe"] },
];

/** Which jobs are one job, and which are refused. */
export function identityCases(engine: Engine): void {
  const add = (text: string, options: EnqueueOptions = {}) => engine.enqueue(contract, "run", { text }, options);

  /** A handler that reports what it takes up, and finishes a job when it is told to. */
  function reporter() {
    const seen: string[] = [];
    const gates: (() => void)[] = [];
    const run = async ({ text }: { text: string }) => {
      seen.push(text);
      await new Promise<void>((resolve) => gates.push(resolve));
      return { echo: text };
    };
    const taken = (texts: string[]) => expect.poll(() => seen, { interval: 10 }).toEqual(texts);
    return { run, taken, finish: () => gates.splice(0).forEach((open) => void open()) };
  }

  test("an id that exists, waiting, running or ended, is a duplicate, and what is stored is the first", async () => {
    const { run, taken, finish } = reporter();
    await engine.start({ run });
    const answer = { status: "duplicate", jobId: "mine" };
    expect(await add("first", { jobId: "mine", delayMs: 30 })).toEqual({ status: "created", jobId: "mine" });
    expect(await add("second", { jobId: "mine" })).toEqual(answer);
    await taken(["first"]);
    expect(await add("third", { jobId: "mine" })).toEqual(answer);
    finish();
    expect((await untilEnded(engine, "mine")).result).toEqual({ echo: "first" });
    expect(await add("fourth", { jobId: "mine" })).toEqual(answer);
  });

  test("drop: a further one adds nothing while the first is pending or running, and is a new one afterwards", async () => {
    const { run, taken, finish } = reporter();
    await engine.start({ run });
    const first = await add("first", { dedupe: drop, delayMs: 30 });
    const answer = { status: "duplicate", jobId: first.jobId };
    expect([first.status, await add("second", { dedupe: drop })]).toEqual(["created", answer]);
    await taken(["first"]);
    expect(await add("third", { dedupe: drop })).toEqual(answer);
    expect((await add("other", { dedupe: { key: "l", mode: "drop" } })).status).toBe("created");
    finish();
    await untilEnded(engine, first.jobId);
    expect((await add("fourth", { dedupe: drop })).status).toBe("created");
  });

  test("drop with ttlMs: the key holds on after the job has ended, and no longer than that", async () => {
    await engine.start({});
    const first = await add("first", { dedupe: { ...drop, ttlMs: 300 } });
    await untilEnded(engine, first.jobId);
    expect(await add("second", { dedupe: { ...drop, ttlMs: 300 } })).toEqual({
      status: "duplicate",
      jobId: first.jobId,
    });
    const added = () => add("third", { dedupe: { ...drop, ttlMs: 300 } });
    await expect.poll(async () => (await added()).status, { interval: 20, timeout: 5_000 }).toBe("created");
  });

  test("latest: a further one takes the place of the delayed one, whose record is gone", async () => {
    const { run, taken, finish } = reporter();
    await engine.start({ run });
    const first = await add("first", { dedupe: latest, delayMs: 60_000 });
    const second = await add("second", { dedupe: latest, delayMs: 60 });
    expect([first.status, second.status, await engine.findJob(first.jobId)]).toEqual(["created", "created", undefined]);
    await taken(["second"]);
    finish();
    expect((await untilEnded(engine, second.jobId)).status).toBe("success");
  });

  test("again: of those that come while the first runs, the last one runs after it, and has its own id then", async () => {
    const { run, taken, finish } = reporter();
    await engine.start({ run });
    const first = await add("first", { dedupe: again });
    await taken(["first"]);
    for (const text of ["second", "third"]) {
      expect(await add(text, { dedupe: again })).toEqual({ status: "duplicate", jobId: first.jobId });
    }
    finish();
    await taken(["first", "third"]);
    const fourth = await add("fourth", { dedupe: again });
    expect([fourth.status, fourth.jobId === first.jobId]).toEqual(["duplicate", false]);
    finish();
    await taken(["first", "third", "fourth"]);
    finish();
  });

  test("again: one that comes while the first still waits adds nothing", async () => {
    const { run, taken, finish } = reporter();
    await engine.start({ run }, { concurrency: 1 });
    await add("gate");
    await taken(["gate"]);
    const first = await add("first", { dedupe: again });
    expect(await add("second", { dedupe: again })).toEqual({ status: "duplicate", jobId: first.jobId });
    finish();
    await taken(["gate", "first"]);
    await add("third");
    finish();
    await taken(["gate", "first", "third"]);
    finish();
  });

  test("what is not sound is refused with its field, and nothing is added", async () => {
    const ran: string[] = [];
    const run = async ({ text }: { text: string }) => {
      ran.push(text);
      return { echo: "" };
    };
    await engine.start({ run });
    for (const { action = "run", data = { text: "a" }, options, code, fields } of refusals) {
      // What the compiler refuses is what this is about.
      const adding = engine.enqueue(contract, action as "run", data as { text: string }, options as EnqueueOptions);
      const error = await adding.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "InvalidJobError", code, issues: fields.map((path) => ({ path })) });
    }
    await untilEnded(engine, (await add("sound")).jobId);
    expect(ran).toEqual(["sound"]);
  });

  test("what a handler does to its data and what JSON does not hold are gone at the next attempt", async () => {
    const seen: unknown[] = [];
    const run = async (given: { text: string; workspaceId?: string | undefined }, { attempt }: JobContext) => {
      seen.push({ ...given });
      given.text = "changed";
      if (attempt === 1) throw new Error("again");
      return { echo: "" };
    };
    await engine.start({ run });
    const given = { text: "mine", workspaceId: undefined };
    const { jobId } = await engine.enqueue(contract, "run", given, { retryIntervalsMs: [1] });
    await untilEnded(engine, jobId);
    expect(seen).toStrictEqual([{ text: "mine" }, { text: "mine" }]);
  });
}
