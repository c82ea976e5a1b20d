import { getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { Redis } from "ioredis";

/** A command as Redis carried it out: one that a client sent, or one of a script. */
export interface SeenCommand {
  readonly isOfScript: boolean;
  readonly name: string;
  readonly args: readonly string[];
}

/** Lists the commands on this test file's keys that Redis carries out while `run` runs. */
export async function watchCommands(run: () => Promise<unknown>): Promise<SeenCommand[]> {
  const { QUEUE_PREFIX } = readQueueEnv();
  const end = `${QUEUE_PREFIX}:end`;
  const watcher = new Redis(getRedisConnection("worker"));
  const monitor = await watcher.monitor();
  const seen: SeenCommand[] = [];
  const ended = Promise.withResolvers<void>();
  monitor.on("monitor", (_time: string, [name = "", ...args]: string[], source: string) => {
    if (args[0] === end) ended.resolve();
    else if (args.some((arg) => arg.startsWith(QUEUE_PREFIX)))
      seen.push({ isOfScript: source === "lua", name: name.toLowerCase(), args });
  });
  await run();
  await watcher.get(end);
  await ended.promise;
  monitor.disconnect();
  watcher.disconnect();
  return seen;
}
