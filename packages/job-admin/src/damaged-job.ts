import { formatJobFailure, type JobFailure, type QueueName, type StoredJob } from "@millrace/worker-config/contracts";
import type { Queue } from "bullmq";
import { parseQuarantineEntry, quarantinedCode, quarantineKey } from "./quarantine-entry.ts";
import { readFields } from "./read-fields.ts";
import { findRecordFlaw, vitalFields } from "./record-flaw.ts";

/** What can be told of a job whose record BullMQ cannot read. */
export async function readDamagedJob(queue: Queue, jobId: string): Promise<StoredJob> {
  const fields = await readFields(queue, jobId, [...vitalFields, "atm", "processedOn", "finishedOn"]);
  const flaw = findRecordFlaw(fields) ?? "it changed while it was read";
  return toDamagedJob(jobId, flaw, fields);
}

/** A job of which nothing can be read but the given fields. */
export function toDamagedJob(jobId: string, flaw: string, fields: Fields = {}): StoredJob {
  return toStoredJob(jobId, fields, { code: "corrupt", message: `The job cannot run: ${flaw}.` });
}

/** What can be told of a job that lies in quarantine. Nothing when it does not. */
export async function readQuarantinedJob(queue: Queue, name: QueueName, jobId: string): Promise<StoredJob | undefined> {
  const client = await queue.getBackend().client;
  const stored = await client.hget(quarantineKey(name), jobId);
  if (stored === null) return undefined;
  const entry = parseQuarantineEntry(stored);
  const takenOutAt = String(entry?.quarantinedAt ?? 0);
  const fields = { timestamp: takenOutAt, ...entry?.fields, finishedOn: takenOutAt };
  const message = `The job lies in quarantine, since its record was ${entry?.reason ?? "corrupt"}: an operator reads it there, and discards it.`;
  return toStoredJob(jobId, fields, { code: quarantinedCode, message });
}

type Fields = Readonly<Partial<Record<"name" | "timestamp" | "atm" | "processedOn" | "finishedOn", string | null>>>;

function toStoredJob(jobId: string, fields: Fields, failure: JobFailure): StoredJob {
  return {
    id: jobId,
    name: fields.name ?? "",
    data: undefined,
    attemptsMade: toNumber(fields.atm) ?? 0,
    progress: 0,
    timestamp: toNumber(fields.timestamp) ?? 0,
    processedOn: toNumber(fields.processedOn),
    finishedOn: toNumber(fields.finishedOn),
    returnvalue: null,
    failedReason: formatJobFailure(failure),
  };
}

function toNumber(stored: string | null | undefined): number | undefined {
  const number = Number(stored || Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}
