import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { jobEnvelopeSchema } from "@millrace/worker-config/contracts";
import { isJobKey } from "./job-key.ts";
import { readFields } from "./read-fields.ts";
import { parseStored } from "./stored-json.ts";

/**
 * A job's payload, for an operator who asks for it in so many words: everything else that tells of jobs leaves it out. Nothing where there is
 * no such job, or its record is damaged.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function readJobData(queue: QueueName, jobId: string): Promise<unknown> {
  return askQueue(contracts[queue], async (opened) => {
    if (!isJobKey(opened, jobId)) return undefined;
    const { data } = await readFields(opened, jobId, ["data"]);
    return jobEnvelopeSchema.safeParse(parseStored(data)).data?.data;
  });
}
