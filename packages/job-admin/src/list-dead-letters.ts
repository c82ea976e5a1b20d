import { askQueue, contracts } from "@millrace/worker-config";
import { z } from "zod";
import type { DeadLetter, DeadLetterRow } from "./dead-letter.ts";
import { type DeadLetterFilter, deadLetterFilterSchema } from "./dead-letter-filter.ts";
import { cursorSchema, toCursor } from "./letter-position.ts";
import { readFields } from "./read-fields.ts";
import { parseStored } from "./stored-json.ts";
import { walkDeadLetters } from "./walk-dead-letters.ts";

export const deadLetterPageSchema = z.strictObject({
  cursor: cursorSchema.optional().describe("Where an earlier page ended. Defaults to the newest letter."),
  limit: z.int().min(1).max(200).default(50).describe("Letters at most."),
});

export interface DeadLetterList {
  readonly letters: readonly DeadLetter[];
  /** Where to go on. Null at the end; a page may be short, or empty, and still have a cursor. */
  readonly cursor: string | null;
}

// A filter that fits nothing must not read a million letters for one answer.
const longestSearch = 1_000;

/**
 * Lists dead letters over all queues, the newest first. A letter whose record is damaged is listed with the code `corrupt`. A call looks
 * at no more than 1,000 failed jobs; the cursor goes on behind them.
 *
 * @throws ZodError when filter or page are not valid
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function listDeadLetters(
  filter: DeadLetterFilter = {},
  page: z.input<typeof deadLetterPageSchema> = {},
): Promise<DeadLetterList> {
  const { cursor: after, limit } = deadLetterPageSchema.parse(page);
  const rows: DeadLetterRow[] = [];
  let cursor: string | null = null;
  let looked = 0;
  for await (const { position, letter } of walkDeadLetters(deadLetterFilterSchema.parse(filter), {
    order: "newest_first",
    after,
  })) {
    looked += 1;
    if (letter) rows.push(letter);
    if (rows.length < limit && looked < longestSearch) continue;
    cursor = toCursor(position);
    break;
  }
  const letters = await Promise.all(rows.map(async (row) => ({ ...row, stack: await readLastStack(row) })));
  return { letters, cursor };
}

async function readLastStack({ queue, jobId }: DeadLetterRow): Promise<string | null> {
  return askQueue(contracts[queue], async (opened) => {
    const { stacktrace } = await readFields(opened, jobId, ["stacktrace"]);
    return lastOf(stacktrace);
  });
}

function lastOf(stacks: string | null): string | null {
  return z.array(z.string()).safeParse(parseStored(stacks)).data?.at(-1) ?? null;
}
