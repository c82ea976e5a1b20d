import type { Queue } from "bullmq";

/** One Lua script: one command to Redis, carried out as a whole or not at all. */
export interface Script {
  /** The name under which the connection knows it. */
  readonly name: string;
  readonly numberOfKeys: number;
  readonly lua: string;
}

// A connection that is told of a script anew sends its whole text again, instead of its digest.
const knownTo = new WeakMap<object, Map<string, string>>();

/** What a script answers is for its caller to check: the client's types promise nothing. */
export async function runScript(
  queue: Queue,
  { name, numberOfKeys, lua }: Script,
  keys: readonly string[],
  args: readonly (string | number)[] = [],
): Promise<unknown> {
  const client = await queue.getBackend().client;
  const known = knownTo.get(client) ?? new Map<string, string>();
  knownTo.set(client, known);
  if (known.get(name) !== lua) client.defineCommand(name, { numberOfKeys, lua });
  known.set(name, lua);
  return client.runCommand(name, [...keys, ...args]);
}
