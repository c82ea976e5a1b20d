import { inspect } from "node:util";
import { StartError } from "@millrace/env";

type CleanUp = () => Promise<void>;

/**
 * Runs `main` until it throws or a signal comes, then cleans up what it started, the latest first, and exits: 0 after a signal, 1 after
 * an error, which a `StartError` says in its message and anything else with its stack. A second signal runs the forced clean-ups at once and does not wait for the gentle ones that wait for jobs.
 */
export async function runUntilSignal(
  main: (cleanUp: (gently: CleanUp, atOnce?: () => void) => void) => Promise<never>,
): Promise<never> {
  const started: { gently: CleanUp; atOnce: (() => void) | undefined }[] = [];
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    if (signals === 1) {
      process.stdout.write("\nStopping: running jobs come to their end. Again to stop at once.\n");
      resolve();
    } else {
      for (const { atOnce } of started) atOnce?.();
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  // The program that started this one is gone, killed perhaps, and nobody is left to send a signal.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && signals === 0 && onSignal(), 500).unref();

  let exitCode = 0;
  const failed = main((gently, atOnce) => void started.push({ gently, atOnce })).catch((error: unknown) => {
    // What ends because it was told to is no failure.
    if (signals > 0) return;
    process.stderr.write(`${error instanceof StartError ? error.message : inspect(error)}\n`);
    exitCode = 1;
  });
  await Promise.race([signalled, failed]);
  for (const { gently } of started.reverse()) await gently();
  process.exit(exitCode);
}
