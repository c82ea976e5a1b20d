import { toIso } from "@millrace/worker-config/contracts";

/** The fields of a job's record without which, or with which in another form, no worker can take the job. */
export const vitalFields = ["name", "timestamp", "data", "opts", "progress", "parent"] as const;

export type VitalFields = Readonly<Record<(typeof vitalFields)[number], string | null>>;

/**
 * What keeps a record from being read as a job, in words that hold nothing of the payload. Nothing where it is whole.
 *
 * BullMQ parses the last four of these fields as JSON and throws at the first that is none; a record that Redis evicted comes back as
 * a stump without a name when BullMQ counts something on it.
 */
export function findRecordFlaw(fields: VitalFields): string | undefined {
  if (vitalFields.every((field) => fields[field] === null)) return "the record is gone";
  if (!fields.name) return "the record has no name";
  if (toIso(fields.timestamp) === null) return "the record has no time of creation";
  for (const field of ["data", "opts"] as const) {
    if (fields[field] === null) return `the record has no field "${field}"`;
  }
  for (const field of ["data", "opts", "progress", "parent"] as const) {
    if (!isJson(fields[field])) return `the record's field "${field}" is not JSON`;
  }
  if (fields.opts && !/^\s*\{/.test(fields.opts)) return 'the record\'s field "opts" is no object';
  return undefined;
}

function isJson(text: string | null): boolean {
  try {
    // BullMQ takes an empty field for none.
    JSON.parse(text || "null");
    return true;
  } catch {
    return false;
  }
}
