import { cursorOf, ForeignCursorError, writeCursor } from "@millrace/page-cursor";
import { askQueue, contracts, type QueueName, queueNames } from "@millrace/worker-config";
import { toIso } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { parseQuarantineEntry, type QuarantineEntry, quarantineKey, scanQuarantine } from "./quarantine-entry.ts";

/** A job in quarantine, without its record. */
export interface QuarantinedJob {
  readonly queue: QueueName;
  readonly jobId: string;
  readonly reason: QuarantineEntry["reason"];
  /** Null where the entry is damaged itself. */
  readonly quarantinedAt: string | null;
  /** What the entry takes in Redis. */
  readonly bytes: number;
}

export interface QuarantineList {
  readonly jobs: readonly QuarantinedJob[];
  /** Where to go on. Null at the end. */
  readonly cursor: string | null;
}

// Redis's own: a larger number is an error of Redis, which would look as if it were away.
const scanPosition = z.string().refine((text) => /^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n);

// The queue that was asked for, null for all; the one that comes next, and Redis's own cursor in it.
const cursorSchema = cursorOf(z.tuple([queueNames.nullable(), queueNames, scanPosition]));

export const quarantinePageSchema = z.strictObject({
  cursor: cursorSchema.optional().describe("Where an earlier page ended. Defaults to the beginning."),
  limit: z.int().min(1).max(200).default(50).describe("About so many; Redis may add a few, and show one twice."),
});

/**
 * Lists what lies in quarantine, in no order, of one queue or of all.
 *
 * @throws ZodError when the page is not valid
 * @throws ForeignCursorError when the cursor is another queue's, or that of all queues is given for one, or the other way round
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function listQuarantine(
  queue?: QueueName,
  page: z.input<typeof quarantinePageSchema> = {},
): Promise<QuarantineList> {
  const { cursor, limit } = quarantinePageSchema.parse(page);
  const asked = queue ?? null;
  if (cursor && cursor[0] !== asked) throw new ForeignCursorError();
  const [, begin, position] = cursor ?? [];
  const names = queueNames.options.filter((name) => queue === undefined || name === queue);
  const jobs: QuarantinedJob[] = [];
  for (const name of names.slice(begin === undefined ? 0 : names.indexOf(begin))) {
    if (jobs.length >= limit) return { jobs, cursor: writeCursor([asked, name, "0"]) };
    for await (const { entries, next } of scanQuarantine(name, name === begin ? position : "0")) {
      jobs.push(...entries.map(({ jobId, stored }) => describe(name, jobId, stored)));
      if (jobs.length >= limit && next !== "0") return { jobs, cursor: writeCursor([asked, name, next]) };
    }
  }
  return { jobs, cursor: null };
}

function describe(queue: QueueName, jobId: string, stored: string): QuarantinedJob {
  const entry = parseQuarantineEntry(stored);
  return {
    queue,
    jobId,
    reason: entry?.reason ?? "corrupt",
    quarantinedAt: toIso(entry?.quarantinedAt),
    bytes: Buffer.byteLength(stored),
  };
}

/**
 * Removes a job from quarantine for good.
 *
 * @returns whether it lay there
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function discardQuarantined(queue: QueueName, jobId: string): Promise<boolean> {
  return askQueue(contracts[queue], async (opened) => {
    const client = await opened.getBackend().client;
    return (await client.hdel(quarantineKey(queue), jobId)) === 1;
  });
}
