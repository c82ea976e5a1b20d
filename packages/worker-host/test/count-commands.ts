import { subscribe, unsubscribe } from "node:diagnostics_channel";

const channel = "tracing:ioredis:command:start";

/** Counts the scripts that this process calls in Redis while `run` runs, as ioredis itself reports them: all that a job costs is scripts. */
export async function countCommands(run: () => Promise<unknown>): Promise<number> {
  let commands = 0;
  const count = (message: unknown) => {
    // The channel's documented form.
    const { command } = message as { command: string };
    if (/^eval(sha)?$/i.test(command)) commands += 1;
  };
  subscribe(channel, count);
  try {
    await run();
  } finally {
    unsubscribe(channel, count);
  }
  return commands;
}
