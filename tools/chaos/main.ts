/** `pnpm chaos`: jobs through workers, a producer and a Redis that are killed all the time, and what is left of them. */
import { readDevServicesEnv } from "@millrace/dev-services";
import { readOptions } from "./options.ts";
import { renderReport } from "./report.ts";
import { runChaos } from "./run-chaos.ts";

const ending = new AbortController();
const endBy = (why: string) => ending.abort(new Error(`Ended by ${why}: the run shows nothing.`));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, endBy);
// Whoever started this is gone, killed perhaps, and nobody is left to send a signal.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && endBy("the end of its parent"), 500).unref();

try {
  const options = readOptions(process.argv.slice(2));
  const report = await runChaos(
    { ...options, redis: readDevServicesEnv().DEV_REDIS, env: { LOG_LEVEL: "silent", ...process.env }, say },
    ending.signal,
  );
  say(renderReport(report));
  process.exit(report.faults.length === 0 ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
