const writes: ReadonlySet<PropertyKey> = new Set(["add", "addAt", "addBulk", "upsertJobScheduler"]);

/**
 * Stands in for every queue while `next build` imports the application (NEXT_PHASE is `phase-production-build`): it opens nothing,
 * answers reads and `close` with nothing, and refuses to take a job, because a job taken at build time would be lost.
 */
export const fakeQueue: object = new Proxy(
  {},
  {
    get: (_, key) => {
      if (key === "then") return undefined;
      if (key === "on" || key === "once" || key === "off") return () => fakeQueue;
      return async () => {
        if (writes.has(key)) {
          throw new Error("A job was enqueued during `next build`, where no queue exists. Enqueue at run time.");
        }
      };
    },
  },
);
