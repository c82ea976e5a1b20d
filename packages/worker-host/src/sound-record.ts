import { replayFields } from "@millrace/worker-config/contracts";
import { defaultRepeatStrategy } from "bullmq";

/** The fields of a job's record that the worker looks at by itself, as Redis stores them. */
export type RecordFields = Readonly<Record<string, string>>;

/** @param record as Redis answers: field, value, field, value */
export function readRecord(record: readonly unknown[]): RecordFields {
  const fields: Record<string, string> = {};
  for (let index = 0; index < record.length; index += 2) {
    const [field, value] = [record[index], record[index + 1]];
    if (typeof field === "string" && typeof value === "string" && lookedAt.has(field)) fields[field] = value;
  }
  return fields;
}

/**
 * Whether a fetched job's record holds what BullMQ needs to run and to end the job, where it holds it at all. It parses `opts`, `parent` and
 * `progress` before the worker sees the job; it leaves a job active for nobody whose schedule cannot be continued; and its scripts fail
 * halfway through a job's end where a link is no link or a count is no count: the job would be in no list any more.
 *
 * `data` comes later, and is large.
 */
export function isSoundRecord({
  id,
  opts,
  progress,
  atm,
  stc,
  priority,
  rjk,
  parent,
  parentKey,
}: RecordFields): boolean {
  return (
    // BullMQ keeps no id in a record, and would take one for the job's.
    id === undefined &&
    (opts === undefined || areOptions(opts)) &&
    (progress === undefined || parse(progress) !== undefined) &&
    (atm === undefined || isCount(atm)) &&
    (stc === undefined || isCount(stc)) &&
    (priority === undefined || (priority !== "" && Number.isFinite(Number(priority)))) &&
    (rjk === undefined || isSchedule(parse(opts ?? ""))) &&
    isParentLink(parent, parentKey)
  );
}

const lookedAt = new Set([
  ...["id", "opts", "progress", "atm", "stc", "priority", "rjk", "parent", "parentKey"],
  ...Object.values(replayFields),
]);

// The jobs of a queue mostly have the same.
let lastOptions = "{}";

function areOptions(stored: string): boolean {
  if (stored === lastOptions) return true;
  if (!isObject(parse(stored))) return false;
  lastOptions = stored;
  return true;
}

/** What Redis can add one to. */
function isCount(stored: string): boolean {
  return /^(0|-?[1-9]\d{0,15})$/.test(stored);
}

function isParentLink(parent: string | undefined, parentKey: string | undefined): boolean {
  if (parent === undefined && parentKey === undefined) return true;
  const link = parse(parent ?? "");
  return isObject(link) && typeof link.id === "string" && `${link.queueKey}:${link.id}` === parentKey;
}

/** What BullMQ asks of a schedule whose next run it makes when this one is fetched. */
function isSchedule(opts: unknown): boolean {
  const repeat = isObject(opts) ? opts.repeat : undefined;
  if (!isObject(repeat)) return false;
  const { pattern, every } = repeat;
  if (typeof pattern !== "string" || pattern === "") return Number(every) > 0;
  if (every) return false;
  try {
    defaultRepeatStrategy(Date.now(), { ...repeat, pattern });
    return true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(stored: string): unknown {
  try {
    return JSON.parse(stored);
  } catch {
    return undefined;
  }
}
