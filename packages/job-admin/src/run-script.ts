import type { Queue } from "bullmq";

/** One Lua script: one command to Redis, carried out as a whole or not at all. */
export interface Script {
  /** The name under which the connection knows it. */
  readonly name: string;
  readonly numberOfKeys: number;
  readonly lua: string;
}

/** What a script answers is for its caller to check: the client's types promise nothing. */
export async function runScript(
  queue: Queue,
  { name, ...definition }: Script,
  keys: readonly string[],
  args: readonly (string | number)[] = [],
): Promise<unknown> {
  const client = await queue.getBackend().client;
  client.defineCommand(name, definition);
  return client.runCommand(name, [...keys, ...args]);
}
