import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { jobEnvelopeSchema, workspaceOf } from "@millrace/worker-config/contracts";
import { isJobKey } from "./job-key.ts";
import { readFields } from "./read-fields.ts";
import { parseStored } from "./stored-json.ts";

/**
 * The workspace that a stored job belongs to, as its contract reads it out of the data. Nothing where there is no such job, it belongs to none,
 * or its record or data cannot be read.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function findJobWorkspace(queue: QueueName, jobId: string): Promise<string | undefined> {
  return askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return undefined;
    const { name, data } = await readFields(opened, jobId, ["name", "data"]);
    const envelope = jobEnvelopeSchema.safeParse(parseStored(data));
    return envelope.success ? workspaceOf(contracts[queue], name ?? "", envelope.data.data) : undefined;
  });
}
