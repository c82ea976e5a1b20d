import { constants } from "node:os";
import { isMainThread } from "node:worker_threads";

// Loaded before the program, which takes a second to be. Until it listens itself, a signal ends it, as it would by its own effect: that a
// container's first process does not have. It would start, take jobs, and be killed at the end of the platform's patience.
// A process that another one forked is that one's to end.
if (isMainThread && process.send === undefined) {
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
    });
  }
}
