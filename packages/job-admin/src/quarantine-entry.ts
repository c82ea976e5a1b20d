import { ownKey } from "@millrace/redis";
import { askQueue, contracts, type QueueName, readQueueEnv } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { z } from "zod";
import { parseStored } from "./stored-json.ts";

/** A job that a worker took out of its queue, as the worker host writes it: a field of the quarantine's hash, under the job's id. */
const entrySchema = z.object({
  jobId: z.string(),
  /** `corrupt`: its record cannot be read. `evicted`: Redis dropped its record. */
  reason: z.enum(["corrupt", "evicted"]),
  quarantinedAt: z.number(),
  /** The kind of key that lay in the record's place, such as `string` or `list`; what it held is the field `value` then. */
  kind: z.string().optional(),
  /** The record's fields as they were found, unparsed. */
  fields: z.record(z.string(), z.string()),
});

export type QuarantineEntry = z.infer<typeof entrySchema>;

/** What a job failed of that lies in quarantine. The worker host lets no handler say it. */
export const quarantinedCode = "quarantined";

export function quarantineKey(queue: QueueName): string {
  return ownKey(readQueueEnv().QUEUE_PREFIX, "quarantine", queue);
}

/** What to say of a job that its queue does not hold: whether a worker put it into quarantine. */
export async function findMissing(opened: Queue, queue: QueueName, jobId: string): Promise<"unknown" | "quarantined"> {
  const client = await opened.getBackend().client;
  return (await client.runCommand("hexists", [quarantineKey(queue), jobId])) === 1 ? "quarantined" : "unknown";
}

/** Nothing where the entry is damaged itself. */
export function parseQuarantineEntry(stored: string | null): QuarantineEntry | undefined {
  return entrySchema.safeParse(parseStored(stored)).data;
}

const replySchema = z.tuple([z.string(), z.array(z.string())]);

// Each entry may hold a whole payload.
const entriesPerCommand = 20;

/**
 * Reads a queue's quarantine in portions, in no order; an entry may come twice.
 *
 * @param from Redis's cursor, "0" for the beginning
 */
export async function* scanQuarantine(
  queue: QueueName,
  from = "0",
): AsyncGenerator<{ entries: { jobId: string; stored: string }[]; next: string }, void> {
  let cursor = from;
  do {
    const [next, pairs] = await askQueue(contracts[queue], async (opened) => {
      const client = await opened.getBackend().client;
      const args = [quarantineKey(queue), cursor, "COUNT", entriesPerCommand];
      return replySchema.parse(await client.runCommand("hscan", args));
    });
    const entries: { jobId: string; stored: string }[] = [];
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      entries.push({ jobId: pairs[index] ?? "", stored: pairs[index + 1] ?? "" });
    }
    yield { entries, next };
    cursor = next;
  } while (cursor !== "0");
}
