import type { Logger } from "@millrace/logger";

// A Ctrl-C reaches the whole process group, and `node --watch` passes its own on: one key, two signals.
const sameKeyMs = 50;

/**
 * Runs `stop` once on the first SIGTERM or SIGINT and exits 0, or 1 when it fails. A second signal exits at once.
 */
export function onShutdownSignal(log: Logger, stop: () => Promise<void>): void {
  let stoppingSince: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince < sameKeyMs) return;
      log.warn({ signal }, "second signal, exiting at once");
      process.exit(1);
    }
    stoppingSince = performance.now();
    log.info({ signal }, "shutting down");
    stop().then(
      () => {
        log.info("shut down");
        process.exit(0);
      },
      (err: unknown) => {
        log.error({ err }, "shut down with an error");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
