import { ownKey } from "@millrace/redis";
import { askQueue, contracts, type QueueName, readQueueEnv, runScript } from "@millrace/worker-config";
import { workerRecordSchema } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { parseStored } from "./stored-json.ts";

export const workerListSchema = z.object({
  workers: z.array(workerRecordSchema).describe("By queue, the one that started first in front."),
  isCut: z.boolean().describe("There are more than were read."),
});

export type WorkerList = z.infer<typeof workerListSchema>;

const mostWorkers = 1_000;

// By Redis' clock, which is also the one by which the records end.
const script = {
  name: "millraceListWorkers",
  numberOfKeys: 1,
  lua: `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ids = redis.call("ZRANGEBYSCORE", KEYS[1], "(" .. string.format("%.0f", now), "+inf", "LIMIT", 0, ARGV[1])
local records = {}
for _, id in ipairs(ids) do
  records[#records + 1] = redis.call("GET", KEYS[1] .. ":" .. id) or nil
end
return records`,
};

/**
 * The worker processes that are alive, one entry per queue that a process works. Each says so every five seconds; one that was killed is
 * gone after 15, one that left is gone at once. At most 1,000. One whose record a newer version wrote in another form is left out.
 *
 * @param queue only the workers of this one
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function listWorkers(queue?: QueueName): Promise<WorkerList> {
  const key = ownKey(readQueueEnv().QUEUE_PREFIX, "workers");
  const reply = await askQueue(contracts.default, (opened) => runScript(opened, script, [key], [mostWorkers]));
  const records = z.array(z.string()).parse(reply);
  const workers = records
    .flatMap((record) => workerRecordSchema.safeParse(parseStored(record)).data ?? [])
    .filter((worker) => queue === undefined || worker.queue === queue)
    .sort((one, other) => one.queue.localeCompare(other.queue) || one.startedAt.localeCompare(other.startedAt));
  return { workers, isCut: records.length === mostWorkers };
}
