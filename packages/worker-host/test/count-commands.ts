import { subscribe, unsubscribe } from "node:diagnostics_channel";

const channel = "tracing:ioredis:command:start";

/** Counts the commands that this process sends to Redis while `run` runs, as ioredis itself reports them, but for those that wait for jobs and events. */
export async function countCommands(run: () => Promise<unknown>): Promise<number> {
  let commands = 0;
  const count = (message: unknown) => {
    // The channel's documented form.
    const { command } = message as { command: string };
    if (!/^(bzpopmin|xread)$/i.test(command)) commands += 1;
  };
  subscribe(channel, count);
  try {
    await run();
  } finally {
    unsubscribe(channel, count);
  }
  return commands;
}
