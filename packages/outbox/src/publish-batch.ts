import type { Database, Tables } from "@millrace/database";
import type { Logger } from "@millrace/logger";
import { enqueueUnchecked, InvalidJobError, type QueueContract, QueueUnavailableError } from "@millrace/worker-config";
import { type Selectable, sql, type Transaction } from "kysely";

/** A job in the outbox, and how long it has been there by the clock of the database. */
type OutboxRow = Selectable<Tables["millrace_outbox"]> & { readonly waited_ms: number };

/** What became of one row. `kept`: the queue could not be reached, and the row stays as it is. */
type Publication = { row: OutboxRow } & (
  | { fate: "published" }
  | { fate: "refused"; reason: string }
  | { fate: "kept"; error: unknown }
);

export interface PublishedBatch {
  /** How many jobs are in their queues now. */
  readonly published: number;
  /** How many a queue would not take. They stay in the outbox with the reason, and are tried again less and less often. */
  readonly refused: number;
  /** Why those that wait for a queue could not reach it, one error per job. */
  readonly kept: readonly unknown[];
}

const batchSize = 100;
const firstRefusalWaitSeconds = 60;
const longestRefusalWaitSeconds = 3_600;

/**
 * Publishes the oldest due jobs of the outbox, at most a hundred. Several relays share the work, since each skips the rows that another
 * one holds. A job leaves the outbox only after its queue has it: a relay that dies between the two publishes it again under the same id,
 * which the queue answers with `duplicate`.
 */
export async function publishBatch(
  database: Database,
  contracts: Readonly<Record<string, QueueContract>>,
  log: Logger,
): Promise<PublishedBatch> {
  return database.transaction().execute(async (transaction) => {
    const rows = await transaction
      .selectFrom("millrace_outbox")
      .selectAll()
      .select(sql<number>`(extract(epoch from clock_timestamp() - created_at) * 1000)::float8`.as("waited_ms"))
      .where("due_at", "<=", sql<Date>`now()`)
      .orderBy("position")
      .limit(batchSize)
      .forUpdate()
      .skipLocked()
      .execute();
    const publications = await Promise.all(rows.map((row) => publish(row, contracts)));
    const published = publications.filter(({ fate }) => fate === "published").map(({ row }) => row.position);
    if (published.length > 0) {
      await transaction.deleteFrom("millrace_outbox").where("position", "in", published).execute();
    }
    const refused = publications.filter((publication) => publication.fate === "refused");
    for (const { row, reason } of refused) {
      await recordRefusal(transaction, row, reason);
      const job = { queue: row.queue, action: row.action, position: row.position, refusals: row.refusals + 1 };
      log.error({ code: "outbox_refused", ...job, reason }, "a job in the outbox is refused by its queue");
    }
    const kept = publications.flatMap((publication) => (publication.fate === "kept" ? [publication.error] : []));
    return { published: published.length, refused: refused.length, kept };
  });
}

async function publish(row: OutboxRow, contracts: Readonly<Record<string, QueueContract>>): Promise<Publication> {
  const contract = Object.hasOwn(contracts, row.queue) ? contracts[row.queue] : undefined;
  if (!contract) return { row, fate: "refused", reason: `There is no queue ${JSON.stringify(row.queue)} here.` };
  try {
    const options = withRestOfDelay(JSON.parse(row.options), row.waited_ms);
    await enqueueUnchecked(contract, row.action, JSON.parse(row.data), options);
    return { row, fate: "published" };
  } catch (error) {
    if (error instanceof QueueUnavailableError) return { row, fate: "kept", error };
    return { row, fate: "refused", reason: reasonOf(error) };
  }
}

/** A delay counts from the moment in which the job was written, whatever the clocks of the application and of this process say. */
function withRestOfDelay(options: unknown, waitedMs: number): unknown {
  if (typeof options !== "object" || options === null || !("delayMs" in options)) return options;
  const { delayMs } = options;
  if (typeof delayMs !== "number") return options;
  return { ...options, delayMs: Math.max(0, Math.round(delayMs - waitedMs)) };
}

/** What was checked on its way in and is refused now was written by another version, or by another hand. */
function reasonOf(error: unknown): string {
  if (error instanceof InvalidJobError) return error.message;
  if (error instanceof SyntaxError) return "Its data or options are no JSON.";
  // The message of any other error may hold a part of the payload.
  return `Adding it failed with an error that nobody foresaw (${Error.isError(error) ? error.name : typeof error}).`;
}

async function recordRefusal(transaction: Transaction<Tables>, row: OutboxRow, reason: string): Promise<void> {
  const waitSeconds = Math.min(firstRefusalWaitSeconds * 2 ** Math.min(row.refusals, 20), longestRefusalWaitSeconds);
  await transaction
    .updateTable("millrace_outbox")
    .set({
      refusals: row.refusals + 1,
      refusal: reason,
      due_at: sql<Date>`now() + make_interval(secs => ${waitSeconds})`,
    })
    .where("position", "=", row.position)
    .execute();
}
