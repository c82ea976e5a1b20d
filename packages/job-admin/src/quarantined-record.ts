import { askQueue, contracts, type QueueName, runScript } from "@millrace/worker-config";
import { parseQuarantineEntry, type QuarantineEntry, quarantineKey } from "./quarantine-entry.ts";

/** A quarantined job with its record, byte for byte. */
export interface QuarantinedRecord extends QuarantineEntry {
  /** Those of the fields whose bytes are no UTF-8, in base64. They are not among `fields`. */
  readonly binaryFields: Readonly<Record<string, string>>;
}

// A client reads a reply as UTF-8, and puts U+FFFD where it is none: exactly the bytes that somebody wants to see would be gone.
const script = {
  name: "millraceReadQuarantined",
  numberOfKeys: 1,
  lua: `
local stored = redis.call("HGET", KEYS[1], ARGV[1])
return stored and (string.gsub(stored, ".", function(byte) return string.format("%02x", string.byte(byte)) end))`,
};

/**
 * A quarantined job's record as it was found, **payload included**, for somebody who mends it by hand. Nothing when no such job lies
 * there, or its entry is damaged itself.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function readQuarantined(queue: QueueName, jobId: string): Promise<QuarantinedRecord | undefined> {
  const hex = await askQueue(contracts[queue], (opened) => runScript(opened, script, [quarantineKey(queue)], [jobId]));
  // A character per byte, until it is known which of the fields are text.
  const entry = typeof hex === "string" ? parseQuarantineEntry(Buffer.from(hex, "hex").toString("latin1")) : undefined;
  if (!entry) return undefined;
  const fields: Record<string, string> = {};
  const binaryFields: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry.fields)) {
    const bytes = Buffer.from(value, "latin1");
    const text = decode(bytes);
    if (text === undefined) binaryFields[name] = bytes.toString("base64");
    else fields[name] = text;
  }
  return { ...entry, jobId, fields, binaryFields };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
