import { defaultWorkerOptions } from "@millrace/worker-config";
import type { PlannedJob } from "./plan-jobs.ts";
import type { Acknowledgement } from "./producer.ts";
import type { Effect } from "./provider.ts";
import type { Snapshot } from "./snapshot.ts";

/** What a run leaves behind, in the queue and outside of it. */
export interface Evidence {
  readonly plan: readonly PlannedJob[];
  readonly acknowledgements: ReadonlyMap<string, Acknowledgement>;
  readonly snapshot: Snapshot;
  readonly effects: ReadonlyMap<string, Effect>;
}

/** Where a job ended: `completed`, `skipped`, `cancelled`, `failed: <code>`; or `lost`, `stuck: <where>`, `twice: <where>`. */
export type JobEnd = string;

export interface Verdict {
  readonly ends: ReadonlyMap<string, JobEnd>;
  /** A sentence per promise that was broken. */
  readonly faults: readonly string[];
}

const deathsOfPoison = defaultWorkerOptions.maxStalledCount + 1;

/** Holds a run to what the queue promises, whatever was killed. */
export function verify(evidence: Evidence): Verdict {
  const ends = new Map(evidence.plan.map(({ jobId }) => [jobId, endOf(jobId, evidence.snapshot)]));
  const faults = [...faultsOfLeftovers(evidence, ends)];
  for (const planned of evidence.plan) {
    const end = ends.get(planned.jobId) ?? "lost";
    faults.push(...faultsOfAcknowledgement(planned, evidence), ...faultsOfEnd(planned, end, evidence));
    faults.push(...faultsOfEffect(planned, end, evidence));
  }
  faults.push(...faultsOfPayments(evidence, ends));
  return { ends, faults };
}

function endOf(jobId: string, { places, records }: Snapshot): JobEnd {
  const record = records.get(jobId);
  const where = places.get(jobId) ?? [];
  if (where.length > 1) return `twice: ${where.join(", ")}`;
  // Its record lies there with it.
  if (where[0] === "quarantine") return "stuck: quarantine";
  if (!record) return "lost";
  switch (where[0]) {
    case "completed":
      return record.isSkipped ? "skipped" : "completed";
    case "failed":
      return record.failureCode === "cancelled" ? "cancelled" : `failed: ${record.failureCode ?? "without a code"}`;
    default:
      return `stuck: ${where[0] ?? "in no list"}`;
  }
}

function* faultsOfAcknowledgement({ jobId }: PlannedJob, { acknowledgements }: Evidence): Generator<string> {
  const acknowledgement = acknowledgements.get(jobId);
  if (!acknowledgement) {
    yield `${jobId} was never acknowledged.`;
  } else if (acknowledgement.status === "duplicate" && !acknowledgement.mayHaveHappened) {
    yield `${jobId} is a duplicate, though its producer had been told that nothing was added.`;
  }
}

function* faultsOfEnd(planned: PlannedJob, end: JobEnd, evidence: Evidence): Generator<string> {
  const { jobId } = planned;
  const allowed = endsAllowed(planned, evidence.acknowledgements.get(jobId));
  const stalls = evidence.snapshot.records.get(jobId)?.stalls ?? 0;
  if (end === "failed: poison") {
    if (stalls < deathsOfPoison) yield `${jobId} is poison after ${stalls} deaths, expected ${deathsOfPoison}.`;
  } else if (!allowed.includes(end)) {
    yield `${jobId} is ${end}, expected ${allowed.join(" or ")}.`;
  }
}

function endsAllowed({ job }: PlannedJob, acknowledgement: Acknowledgement | undefined): readonly JobEnd[] {
  switch (acknowledgement?.cancellation) {
    case undefined:
      break;
    case "cancelled":
      return ["cancelled"];
    // It may come to its end in the moment between the question and the message.
    case "cancelling":
      return ["cancelled", "completed"];
    // An answer that got lost, and the second one found the job at its end; or the job was quicker.
    case "finished":
      return ["cancelled", "completed"];
    case "unknown":
      return ["known to who cancels it"];
  }
  if (job.type === "refused") return ["failed: refused"];
  return job.type === "charge" ? ["completed", "skipped"] : ["completed"];
}

function* faultsOfEffect({ jobId, job }: PlannedJob, end: JobEnd, evidence: Evidence): Generator<string> {
  const { acknowledgements, snapshot, effects } = evidence;
  const effect = effects.get(job.type === "charge" ? job.data.payment : jobId);
  const record = snapshot.records.get(jobId);
  const hasRun = end === "completed" || end === "skipped";
  if (hasRun && !effect) yield `${jobId} is ${end}, and its effect never happened.`;
  if (hasRun && job.type === "charge" && effect) {
    const isReceipt = JSON.stringify(record?.result) === JSON.stringify({ receipt: effect.receipt });
    if (!isReceipt) yield `${jobId} is ${end} with another result than its effect had.`;
  }
  // One that is handed back in the moment of its effect has it again, and no death is counted. The others are quicker than the grace.
  if (job.type === "slow") return;
  const mayRun = acknowledgements.get(jobId)?.cancellation !== "cancelled";
  const asked = effect?.askedBy.filter((asker) => asker === jobId).length ?? 0;
  const limit = (record?.stalls ?? 0) + (mayRun ? 1 : 0);
  const meaning = mayRun ? "it ran twice without a death" : "it ran although it was cancelled";
  if (asked > limit) yield `${jobId} had its effect ${asked} times, expected ${limit} at most: ${meaning}.`;
}

/** A payment that two jobs asked for was claimed by one and not left to it, unless that one ended as poison and its claim ran out. */
function* faultsOfPayments({ plan, effects }: Evidence, ends: ReadonlyMap<string, JobEnd>): Generator<string> {
  const payments = new Set(plan.flatMap(({ job }) => (job.type === "charge" ? [job.data.payment] : [])));
  for (const payment of payments) {
    const askers = [...new Set(effects.get(payment)?.askedBy)].filter((jobId) => ends.get(jobId) !== "failed: poison");
    if (askers.length > 1) yield `${payment} was asked for by ${askers.join(" and ")}: its claim did not hold.`;
  }
}

function* faultsOfLeftovers({ plan, snapshot }: Evidence, ends: ReadonlyMap<string, JobEnd>): Generator<string> {
  const planned = new Set(plan.map(({ jobId }) => jobId));
  for (const jobId of snapshot.places.keys()) if (!planned.has(jobId)) yield `${jobId} was never planned.`;
  for (const jobId of snapshot.locked) yield `${jobId} is locked, and nobody works any more.`;
  for (const jobId of snapshot.claiming) {
    // Such a claim ends by itself, with its lease.
    if (ends.get(jobId) !== "failed: poison") yield `${jobId} claims its effect, and nobody works any more.`;
  }
}
