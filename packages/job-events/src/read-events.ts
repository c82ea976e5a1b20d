import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { z } from "zod";

const entriesSchema = z.array(z.tuple([z.string(), z.array(z.string())]));

/** An entry of a job's stream, as it lies there. */
export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  /** The data, as JSON. */
  readonly json: string;
}

/** A follower holds so many while its reader takes them, of 16,384 bytes each at most: 128 kB. What is not read yet lies in Redis. */
export const pageSize = 8;

/**
 * The next events of a stream, a page of them.
 *
 * @param after the last one that was seen; from the beginning without
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function readEvents(queue: QueueName, stream: string, after: string | undefined): Promise<StoredEvent[]> {
  const from = after === undefined ? "-" : `(${after}`;
  const entries = entriesSchema.parse(await run(queue, "xrange", [stream, from, "+", "COUNT", pageSize]));
  return entries.map(([id, fields]) => {
    const values = Object.fromEntries(z.array(z.string()).parse(fields).flatMap(toPair));
    return { id, type: values.type ?? "", json: values.data ?? "null" };
  });
}

/** Where a stream ends: what comes later has a higher id. */
export async function readLastId(queue: QueueName, stream: string): Promise<string> {
  const entries = entriesSchema.parse(await run(queue, "xrevrange", [stream, "+", "-", "COUNT", 1]));
  return entries[0]?.[0] ?? "0-0";
}

function toPair(name: string, index: number, fields: string[]): [string, string][] {
  return index % 2 === 0 ? [[name, fields[index + 1] ?? ""]] : [];
}

/** Over the one connection that all questions to queues share. */
function run(queue: QueueName, command: string, args: (string | number)[]): Promise<unknown> {
  return askQueue(contracts[queue], async (opened) => (await opened.getBackend().client).runCommand(command, args));
}
