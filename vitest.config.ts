import { defineConfig } from "vitest/config";

// Tests run the sources, as development does: nothing has to be built first.
const conditions = ["millrace-source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["{apps,packages,tools}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    globalSetup: ["tools/test-setup/redis.ts", "tools/test-setup/postgres.ts"],
    setupFiles: "tools/test-setup/environment.ts",
    // A process and its modules serve many files: to start one and to read them again for each took half of the time.
    isolate: false,
    // Most tests wait for something, so three files at once fit on two cores as well; each has keys of its own.
    maxWorkers: 3,
    // Real parts take their time on a busy machine; a test that waits, waits for an event.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What is polled for is there at once, or late on such a machine.
    expect: { poll: { timeout: 10_000 } },
  },
});
