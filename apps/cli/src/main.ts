#!/usr/bin/env node
import { userInfo } from "node:os";
import { readTerminalEnv } from "./env.ts";
import { runCli } from "./run-cli.ts";

// Node's own text; the program says itself what an operator should know.
process.removeAllListeners("warning");

const interrupt = new AbortController();
const onSignal = () => {
  // A second one does not wait for Redis.
  if (interrupt.signal.aborted) process.exit(130);
  interrupt.abort();
};
process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
for (const stream of [process.stdout, process.stderr]) {
  // `| head` has read what it wanted: that is no failure.
  stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 70));
}

process.exitCode = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupt.signal,
  user: userName(),
  isPlain: readTerminalEnv().NO_COLOR !== undefined,
});
// A pipe that is still open, such as an unread stdin, would keep the process.
process.stdin.destroy();

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
