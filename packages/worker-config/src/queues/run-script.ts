import type { Queue, RedisClient } from "bullmq";

/** One Lua script: one command to Redis, carried out as a whole or not at all. */
export interface Script {
  /** The name under which the connection knows it. */
  readonly name: string;
  readonly numberOfKeys: number;
  readonly lua: string;
}

// A connection that is told of a script anew sends its whole text again, instead of its digest.
const knownTo = new WeakMap<object, Map<string, string>>();

/** Tells a connection of a script, once: from then on its `runCommand`, and that of its transactions, take the script's name. */
export function teachScript(client: RedisClient, { name, numberOfKeys, lua }: Script): void {
  const known = knownTo.get(client) ?? new Map<string, string>();
  knownTo.set(client, known);
  if (known.get(name) !== lua) client.defineCommand(name, { numberOfKeys, lua });
  known.set(name, lua);
}

/**
 * Runs a script over a queue's connection, by its digest. What it answers is for its caller to check: the client's types promise nothing.
 *
 * To be called within `askQueue`, which gives it a deadline.
 */
export async function runScript(
  queue: Queue,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[] = [],
): Promise<unknown> {
  const client = await queue.getBackend().client;
  teachScript(client, script);
  return client.runCommand(script.name, [...keys, ...args]);
}
