import { isOfAnotherKind } from "@millrace/worker-config";
import type { Queue } from "bullmq";

/** Fields of a job's record as they are stored, unparsed. A key that holds no hash has none of them. */
export async function readFields<Field extends string>(
  queue: Queue,
  jobId: string,
  fields: readonly Field[],
): Promise<Record<Field, string | null>> {
  const client = await queue.getBackend().client;
  const values = await client.hmget(queue.toKey(jobId), ...fields).catch((error: unknown) => {
    if (isOfAnotherKind(error)) return [];
    throw error;
  });
  const read = Object.fromEntries(fields.map((field, index) => [field, values[index] ?? null]));
  // Made of exactly these fields in the line above; `fromEntries` forgets their names.
  return read as Record<Field, string | null>;
}
