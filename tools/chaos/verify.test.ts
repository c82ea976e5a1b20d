import { expect, test } from "vitest";
import type { PlannedJob } from "./plan-jobs.ts";
import type { Acknowledgement } from "./producer.ts";
import type { Effect } from "./provider.ts";
import type { JobRecord } from "./snapshot.ts";
import { verify } from "./verify.ts";

const record = { failureCode: undefined, isSkipped: false, result: undefined, stalls: 0 };
const created: Acknowledgement = { status: "created", refusals: 0, mayHaveHappened: false };
const charge = { type: "charge", data: { payment: "payment-1" } } as const;

/** What a sound run of five jobs leaves behind, in maps of its own that a test may spoil. */
function soundRun() {
  const jobs: Record<string, PlannedJob["job"]> = {
    plain: { type: "plain", data: {} },
    refused: { type: "refused", data: {} },
    first: charge,
    second: charge,
    called_off: { type: "plain", data: {} },
  };
  const result = { receipt: "receipt-1" };
  return {
    plan: Object.entries(jobs).map(([jobId, job]) => ({ jobId, job, options: {}, dueMs: 0 })),
    acknowledgements: new Map<string, Acknowledgement>([
      ...Object.keys(jobs).map((jobId): [string, Acknowledgement] => [jobId, created]),
      ["called_off", { ...created, cancellation: "cancelled" }],
    ]),
    effects: new Map<string, Effect>([
      ["plain", { receipt: "receipt-0", askedBy: ["plain"] }],
      ["payment-1", { receipt: "receipt-1", askedBy: ["first"] }],
    ]),
    snapshot: {
      places: new Map([
        ["plain", ["completed"]],
        ["refused", ["failed"]],
        ["first", ["completed"]],
        ["second", ["completed"]],
        ["called_off", ["failed"]],
      ]),
      records: new Map<string, JobRecord>([
        ["plain", record],
        ["refused", { ...record, failureCode: "refused" }],
        ["first", { ...record, result }],
        ["second", { ...record, isSkipped: true, result }],
        ["called_off", { ...record, failureCode: "cancelled" }],
      ]),
      locked: [] as string[],
      claiming: [] as string[],
    },
  };
}

type Run = ReturnType<typeof soundRun>;
const poison = { ...record, failureCode: "poison", stalls: 3 };

test("a sound run is found sound, and each of its jobs to have ended", () => {
  const { ends, faults } = verify(soundRun());
  expect(faults).toEqual([]);
  expect([...ends.values()]).toEqual(["completed", "failed: refused", "completed", "skipped", "cancelled"]);
});

test.each<[what: string, spoil: (run: Run) => unknown, fault: RegExp]>([
  ["was lost", ({ snapshot }) => snapshot.records.delete("plain"), /^plain is lost/],
  ["is still active", ({ snapshot }) => snapshot.places.set("plain", ["active"]), /^plain is stuck: active/],
  ["lies in no list", ({ snapshot }) => snapshot.places.delete("plain"), /^plain is stuck: in no list/],
  [
    "was put into quarantine",
    ({ snapshot }) => snapshot.records.delete("plain") && snapshot.places.set("plain", ["quarantine"]),
    /^plain is stuck: quarantine/,
  ],
  [
    "lies in two",
    ({ snapshot }) => snapshot.places.set("plain", ["completed", "wait"]),
    /^plain is twice: completed, wait/,
  ],
  ["nobody planned", ({ snapshot }) => snapshot.places.set("stranger", ["completed"]), /^stranger was never planned/],
  [
    "failed for no reason",
    ({ snapshot }) => snapshot.places.set("plain", ["failed"]),
    /^plain is failed: without a code, expected completed/,
  ],
  [
    "is poison without three deaths",
    ({ snapshot }) =>
      snapshot.places.set("plain", ["failed"]) && snapshot.records.set("plain", { ...poison, stalls: 1 }),
    /^plain is poison after 1 deaths/,
  ],
  [
    "succeeded where it could not",
    ({ snapshot }) => snapshot.places.set("refused", ["completed"]),
    /^refused is completed, expected failed: refused/,
  ],
  ["was never acknowledged", (run) => run.acknowledgements.delete("plain"), /^plain was never acknowledged/],
  [
    "was added by an enqueue that said it was not",
    (run) => run.acknowledgements.set("plain", { ...created, status: "duplicate" }),
    /^plain is a duplicate/,
  ],
  [
    "completed although it was cancelled",
    ({ snapshot }) => snapshot.places.set("called_off", ["completed"]),
    /^called_off is completed, expected cancelled/,
  ],
  [
    "ran although it was cancelled",
    ({ effects }) => effects.set("called_off", { receipt: "", askedBy: ["called_off"] }),
    /^called_off had its effect 1 times, expected 0/,
  ],
  [
    "completed without its effect",
    ({ effects }) => effects.delete("plain"),
    /^plain is completed, and its effect never/,
  ],
  [
    "ran twice without a death",
    ({ effects }) => effects.get("plain")?.askedBy.push("plain"),
    /^plain had its effect 2 times, expected 1/,
  ],
  [
    "answers with another result than its effect had",
    ({ snapshot }) => snapshot.records.set("second", { ...record, isSkipped: true }),
    /^second is skipped with another result/,
  ],
  [
    "had an effect that another had claimed",
    ({ effects }) => effects.get("payment-1")?.askedBy.push("second"),
    /^payment-1 was asked for by first and second/,
  ],
  ["is locked", ({ snapshot }) => snapshot.locked.push("plain"), /^plain is locked/],
  ["holds a claim", ({ snapshot }) => snapshot.claiming.push("first"), /^first claims its effect/],
])("a job that %s is a fault", (_, spoil, fault) => {
  const run = soundRun();
  spoil(run);
  expect(verify(run).faults).toEqual(expect.arrayContaining([expect.stringMatching(fault)]));
});

test("a death explains a second run, and three of them poison", () => {
  const run = soundRun();
  run.effects.get("plain")?.askedBy.push("plain");
  run.snapshot.records.set("plain", { ...record, stalls: 1 });
  run.snapshot.places.set("first", ["failed"]);
  run.snapshot.records.set("first", poison);
  run.snapshot.claiming.push("first");
  run.effects.get("payment-1")?.askedBy.push("second");
  expect(verify(run).faults).toEqual([]);
});
