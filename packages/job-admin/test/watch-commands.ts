import { connect } from "node:net";
import { createInterface } from "node:readline";
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
  const { hostname, port, password } = new URL(process.env.REDIS_URL ?? "");
  // The client's own monitor fails where somebody's command comes along with the answer to MONITOR, as it does on a busy Redis.
  const socket = connect(Number(port) || 6_379, hostname);
  const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  socket.on("error", began.reject);
  const seen: SeenCommand[] = [];
  createInterface({ input: socket }).on("line", (line) => {
    if (line.startsWith("-")) began.reject(new Error(`Redis lets nobody watch: ${line}`));
    const command = parseLine(line);
    if (!command) return began.resolve();
    if (command.args[0] === end) ended.resolve();
    else if (command.args.some((arg) => arg.startsWith(QUEUE_PREFIX))) seen.push(command);
  });
  socket.write(`${password && `AUTH ${password}\r\n`}MONITOR\r\n`);
  await began.promise;
  await run();
  await watcher.get(end);
  await ended.promise;
  socket.destroy();
  watcher.disconnect();
  return seen;
}

/** `+<time> [<database> <client, or lua>] "<command>" "<argument>" …`; nothing where it is an answer. */
function parseLine(line: string): SeenCommand | undefined {
  const [, source, text = ""] = /^\+[\d.]+ \[\d+ ([^\]]+)\] "(.*)"$/.exec(line) ?? [];
  if (source === undefined) return undefined;
  const [name = "", ...args] = text.split('" "').map((part) => part.replaceAll('\\"', '"'));
  return { isOfScript: source === "lua", name: name.toLowerCase(), args };
}
