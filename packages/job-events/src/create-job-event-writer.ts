import { ownKey } from "@millrace/redis";
import type { Json } from "@millrace/worker-config/contracts";

/** Something that a job says while it runs, for whoever follows it: a piece of an answer, a line of a log. */
export interface JobEvent {
  /** Such as `token` or `log`: a-z, 0-9, `_` and `-`, up to 50 characters. Followers get it as the name of a server-sent event. */
  readonly type: string;
  readonly data: Json;
}

export interface JobEventWriter {
  /**
   * Adds an event to the job's own stream, as one Redis command.
   *
   * @throws RangeError when the type is not one that followers can get, or the data is larger than 16,384 bytes of JSON
   * @throws the client's own error when Redis is away
   */
  append(queue: string, jobId: string, event: JobEvent): Promise<void>;
}

export interface JobEventWriterOptions {
  /** A client of ioredis, or what runs a script as one does. It is the caller's, who closes it. In role `producer` an append fails at once when Redis is away. */
  readonly redis: { eval(script: string, keys: number, ...keysAndArguments: (string | number)[]): Promise<unknown> };
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  /** How many events of a job are kept, about. Older ones go, and a follower that has not seen them is told. Defaults to 1,000. */
  readonly maxEvents?: number;
  /** How long a stream is kept after its last event, in milliseconds. Defaults to an hour. */
  readonly lifetimeMs?: number;
}

const maxDataBytes = 16_384;

/** What a follower hears of the job itself, and what a browser's EventSource keeps for the connection. */
const reservedTypes: ReadonlySet<string> = new Set(["end", "error", "gap", "message", "open", "status"]);

// The numbers of a stream's life have no hole. One command, so that two writers never give one number twice, and no stream is left
// without an expiry.
const script = `
local last, id = redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", 1)[1]
if last then
  local life, number = string.match(last[1], "^(%d+)-(%d+)$")
  id = life .. "-" .. string.format("%.0f", number + 1)
else
  local time = redis.call("TIME")
  id = string.format("%.0f", time[1] * 1000 + math.floor(time[2] / 1000)) .. "-1"
end
redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[1], id, "type", ARGV[2], "data", ARGV[3])
redis.call("PEXPIRE", KEYS[1], ARGV[4])
return id`;

/** Where a job's own events are. */
export function eventStreamKey(prefix: string, queue: string, jobId: string): string {
  return ownKey(prefix, "events", queue, jobId);
}

/**
 * Writes the events of jobs: for handlers whose work is worth watching while it goes on. What a job must not lose is its result; events
 * are kept for a while and bounded.
 */
export function createJobEventWriter({
  redis,
  prefix,
  maxEvents = 1_000,
  lifetimeMs = 60 * 60_000,
}: JobEventWriterOptions): JobEventWriter {
  return {
    append: async (queue, jobId, { type, data }) => {
      const text = JSON.stringify(data);
      checkEvent(type, text);
      await redis.eval(script, 1, eventStreamKey(prefix, queue, jobId), maxEvents, type, text, lifetimeMs);
    },
  };
}

function checkEvent(type: string, text: string): void {
  if (!/^[a-z][a-z0-9_-]{0,49}$/.test(type) || reservedTypes.has(type)) {
    const reserved = [...reservedTypes].join(", ");
    throw new RangeError(
      `event.type: expected a-z, 0-9, _ and -, up to 50 characters, and none of ${reserved}; got ${JSON.stringify(type)}.`,
    );
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxDataBytes) return;
  throw new RangeError(
    `event.data: expected at most ${maxDataBytes} bytes of JSON, got ${bytes}. Append it in pieces, or return it as the result.`,
  );
}
