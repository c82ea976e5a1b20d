import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { z } from "zod";

const timeSchema = z.tuple([z.coerce.number(), z.coerce.number()]);

/**
 * The time by Redis' clock, in milliseconds since 1970. What is removed by its age goes by it: jobs are dated by it, and a machine whose clock
 * is a month ahead would take everything for old.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function readRedisTime(queue: QueueName = "default"): Promise<number> {
  return askQueue(contracts[queue], async (opened) => {
    const client = await opened.getBackend().client;
    const answer = await client.runCommand("time", []).catch((cause: Error) => {
      if (!cause.message.startsWith("NOPERM")) throw cause;
      throw new Error(
        "The user of REDIS_URL may not run TIME, by which ages are counted: nothing was looked at or removed. Grant it with ACL SETUSER … +time.",
        { cause },
      );
    });
    const [seconds, microseconds] = timeSchema.parse(answer);
    return seconds * 1_000 + Math.floor(microseconds / 1_000);
  });
}
