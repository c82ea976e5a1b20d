import { askQueue, contracts, type QueueName } from "@millrace/worker-config";
import { z } from "zod";

const replySchema = z.tuple([z.string(), z.array(z.string())]);

/** The keys of the children that a parent waits for, in portions. */
export async function* scanChildren(
  name: QueueName,
  jobId: string,
): AsyncGenerator<{ parent: string; keys: string[] }, void> {
  let cursor = "0";
  do {
    const { parent, reply } = await askQueue(contracts[name], async (opened) => {
      const key = opened.toKey(jobId);
      const client = await opened.getBackend().client;
      const args = [`${key}:dependencies`, cursor, "COUNT", 100];
      return { parent: key, reply: replySchema.parse(await client.runCommand("sscan", args)) };
    });
    cursor = reply[0];
    yield { parent, keys: reply[1] };
  } while (cursor !== "0");
}
