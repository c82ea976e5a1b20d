import type { QueueName } from "@millrace/worker-config/contracts";
import type { Redis } from "ioredis";

/** Told the name of an engine's event, or nothing where the entry has none. */
export type Wake = (event: string | undefined) => void;

/** What wakes: news in a stream of a queue's, those alone that name `jobId` where one is given. */
export interface WakeSource {
  readonly queue: QueueName;
  readonly stream: string;
  readonly jobId?: string;
}

export interface WakeUps {
  /**
   * From the moment the call resolves nothing is missed but what an outage of Redis swallows.
   *
   * @returns ends it
   * @throws QueueUnavailableError when Redis does not answer
   */
  watch(source: WakeSource, wake: Wake): Promise<() => void>;
  close(): void;
}

export interface WakeUpsOptions {
  /** Makes the connection, when somebody watches. */
  readonly connect: () => Redis;
  /** The id of a stream's last entry, or `0-0`. */
  readonly readLastId: (queue: QueueName, stream: string) => Promise<string>;
  /** Told when Redis refuses to let this user read, so that only slow polling is left. */
  readonly onRefused: (error: Error) => void;
  /** How long the connection outlives its last watcher, in milliseconds. */
  readonly lingerMs: number;
}

interface Watched {
  position: string;
  readonly wakes: Map<string | undefined, Set<Wake>>;
}

// A stream that is new among the watched ones waits for the read that is under way, so long at most.
const blockMs = 200;
const batchSize = 200;
const refusalPauseMs = 1_000;

/**
 * One blocking connection for everything that this process watches, and none when it watches nothing. All its streams share the prefix's
 * hash tag, so that on Redis Cluster they lie in one slot and one command reads them.
 */
export function createWakeUps({ connect, readLastId, onRefused, lingerMs }: WakeUpsOptions): WakeUps {
  const watched = new Map<string, Watched>();
  let redis: Redis | undefined;
  let isReading = false;
  let isClosed = false;
  let idle: NodeJS.Timeout | undefined;

  async function readWhileWatched(connection: Redis): Promise<void> {
    while (watched.size > 0 && !isClosed) {
      const [streams, positions] = [[...watched.keys()], [...watched.values()].map(({ position }) => position)];
      const reply = await connection
        .xread("COUNT", batchSize, "BLOCK", blockMs, "STREAMS", ...streams, ...positions)
        .catch(async (error: Error) => {
          if (isClosed) return null;
          onRefused(error);
          // Polling goes on meanwhile.
          await new Promise((resolve) => setTimeout(resolve, refusalPauseMs).unref());
          return null;
        });
      for (const [stream, entries] of reply ?? []) dispatch(stream, entries);
    }
    isReading = false;
    idle = setTimeout(disconnect, lingerMs);
    idle.unref();
  }

  function dispatch(stream: string, entries: [id: string, fields: string[]][]): void {
    const known = watched.get(stream);
    if (!known) return;
    known.position = entries.at(-1)?.[0] ?? known.position;
    for (const [, fields] of entries) {
      const event = fieldOf(fields, "event");
      for (const wake of known.wakes.get(fieldOf(fields, "jobId")) ?? []) wake(event);
    }
  }

  function disconnect(): void {
    clearTimeout(idle);
    redis?.disconnect();
    redis = undefined;
  }

  return {
    watch: async ({ queue, stream, jobId }, wake) => {
      const position = watched.get(stream)?.position ?? (await readLastId(queue, stream));
      if (isClosed) return () => {};
      // Another watcher may have come in between; what it has seen already wakes once too often at worst.
      const known = watched.get(stream) ?? { position, wakes: new Map<string | undefined, Set<Wake>>() };
      watched.set(stream, known);
      const wakes = known.wakes.get(jobId) ?? new Set();
      known.wakes.set(jobId, wakes.add(wake));
      clearTimeout(idle);
      redis ??= connect();
      if (!isReading) {
        isReading = true;
        void readWhileWatched(redis);
      }
      return () => {
        wakes.delete(wake);
        if (wakes.size === 0 && known.wakes.get(jobId) === wakes) known.wakes.delete(jobId);
        if (known.wakes.size === 0 && watched.get(stream) === known) watched.delete(stream);
      };
    },
    close: () => {
      isClosed = true;
      disconnect();
    },
  };
}

function fieldOf(fields: readonly string[], name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] === name) return fields[index + 1];
  }
  return undefined;
}
