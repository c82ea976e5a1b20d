import { askQueue, contracts, type QueueName, queueNames, runScript } from "@millrace/worker-config";
import { toIso } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { parseQuarantineEntry, quarantineKey } from "./quarantine-entry.ts";

/** A quarantined job with its record, byte for byte. */
export const quarantinedRecordSchema = z
  .object({
    queue: queueNames,
    jobId: z.string(),
    reason: z.enum(["corrupt", "evicted"]).describe("Its record cannot be read, or Redis dropped it."),
    quarantinedAt: z.iso
      .datetime()
      .nullable()
      .describe("Null where the entry is damaged itself: the field `entry` is all of it."),
    kind: z
      .string()
      .nullable()
      .describe("The kind of key that lay in the record's place; the field `value` is what it held."),
    fields: z
      .record(z.string(), z.string())
      .describe("The record's fields as they were found, unparsed: with its payload."),
    binaryFields: z.record(z.string(), z.string()).describe("Those whose bytes are no UTF-8, in base64."),
    cutFields: z
      .record(z.string(), z.int())
      .describe("Those that are longer than was asked for, and how many bytes they have."),
  })
  .meta({ id: "QuarantinedRecord" });

export type QuarantinedRecord = z.infer<typeof quarantinedRecordSchema>;

// A client reads a reply as UTF-8, and puts U+FFFD where it is none: exactly the bytes that somebody wants to see would be gone.
// Two hundred bytes at a time: one by one a megabyte held Redis up for more than a second.
const script = {
  name: "millraceReadQuarantined",
  numberOfKeys: 1,
  lua: `
local stored = redis.call("HGET", KEYS[1], ARGV[1])
if not stored then return false end
local hex = {}
for from = 1, #stored, 200 do
  local to = math.min(from + 199, #stored)
  hex[#hex + 1] = string.format(string.rep("%02x", to - from + 1), string.byte(stored, from, to))
end
return table.concat(hex)`,
};

/**
 * A quarantined job's record as it was found, **payload included**, for somebody who mends it by hand. Nothing when no such job lies there.
 *
 * @param maxFieldBytes how much of each field is wanted. Defaults to all of it
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function readQuarantined(
  queue: QueueName,
  jobId: string,
  maxFieldBytes: number = Number.POSITIVE_INFINITY,
): Promise<QuarantinedRecord | undefined> {
  const hex = await askQueue(contracts[queue], (opened) => runScript(opened, script, [quarantineKey(queue)], [jobId]));
  if (typeof hex !== "string") return undefined;
  // A character per byte, until it is known which of the fields are text.
  const stored = Buffer.from(hex, "hex").toString("latin1");
  const entry = parseQuarantineEntry(stored);
  const record = {
    ...{ queue, jobId, reason: entry?.reason ?? ("corrupt" as const), kind: entry?.kind ?? null },
    quarantinedAt: toIso(entry?.quarantinedAt),
    // Without a prototype: a field may have any name.
    fields: Object.create(null) as Record<string, string>,
    binaryFields: Object.create(null) as Record<string, string>,
    cutFields: Object.create(null) as Record<string, number>,
  };
  for (const [name, value] of Object.entries(entry?.fields ?? { entry: stored })) {
    const bytes = Buffer.from(value, "latin1");
    const isCut = bytes.length > maxFieldBytes;
    const wanted = isCut ? bytes.subarray(0, maxFieldBytes) : bytes;
    const text = decode(wanted, isCut);
    if (text === undefined) record.binaryFields[name] = wanted.toString("base64");
    else record.fields[name] = text;
    if (isCut) record.cutFields[name] = bytes.length;
  }
  return record;
}

function decode(bytes: Buffer, isCut: boolean): string | undefined {
  try {
    // As of a stream: half a character at the cut is left out.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
}
