import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "@millrace/database";
import type { Logger } from "@millrace/logger";
import type { QueueContract } from "@millrace/worker-config";
import { publishBatch } from "./publish-batch.ts";

export interface OutboxRelayOptions {
  /** Where the outbox is: the database of the applications that write into it. */
  readonly database: Database;
  /** The queues it may publish to, by name. */
  readonly contracts: Readonly<Record<string, QueueContract>>;
  readonly log: Logger;
  /** What to wait for before the first look, such as the migrations of the database. Defaults to nothing. */
  readonly after?: Promise<unknown>;
  /** How often it looks for new jobs while there is nothing to do, in milliseconds. Defaults to 250. */
  readonly pollMs?: number;
}

/** A running relay, as a service of a worker process. */
export interface OutboxRelay {
  /** Resolves while jobs in the outbox reach their queues. */
  check(): Promise<void>;
  /** Ends after the batch at hand. */
  close(): Promise<void>;
}

const longestWaitMs = 5_000;

/**
 * Moves jobs from the outbox to their queues until it is closed. Any number of relays may run at once. While the database or Redis is away
 * it tries again, less often up to every five seconds, and says so once.
 */
export function startOutboxRelay({ database, contracts, log, after, pollMs = 250 }: OutboxRelayOptions): OutboxRelay {
  const closing = new AbortController();
  let trouble: string | undefined;

  const report = (now: string | undefined, err?: unknown) => {
    if (now !== undefined && now !== trouble) log.warn({ code: "outbox_stuck", err }, `${now}, trying again`);
    if (now === undefined && trouble !== undefined) log.info("the outbox is published again");
    trouble = now;
  };

  const step = async (): Promise<{ isMore: boolean }> => {
    try {
      const { published, kept } = await publishBatch(database, contracts, log);
      report(kept.length > 0 ? "jobs in the outbox cannot reach their queues" : undefined, kept[0]);
      return { isMore: published > 0 && kept.length === 0 };
    } catch (error) {
      report("cannot read the outbox", error);
      return { isMore: false };
    }
  };

  const run = async () => {
    const closed = new Promise((resolve) => closing.signal.addEventListener("abort", resolve));
    await Promise.race([after, closed]);
    let waitMs = pollMs;
    while (!closing.signal.aborted) {
      const { isMore } = await step();
      waitMs = trouble === undefined ? pollMs : Math.min(waitMs * 2, longestWaitMs);
      // A close ends the wait, which is then no error.
      if (!isMore) await wait(waitMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  };
  const ended = run();

  return {
    check: async () => {
      if (trouble !== undefined) throw new Error(`The outbox relay: ${trouble}.`);
    },
    close: async () => {
      closing.abort();
      await ended;
    },
  };
}
