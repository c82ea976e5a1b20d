import { randomUUID } from "node:crypto";
import { createDatabase } from "@millrace/dev-services";
import { afterAll, beforeAll } from "vitest";
import { readDatabaseEnv } from "../src/env.ts";

/** A fresh, empty database for one test file. `url()` is known once its tests run. */
export function useEmptyDatabase(): { url(): string } {
  let made: Awaited<ReturnType<typeof createDatabase>> | undefined;
  beforeAll(async () => {
    made = await createDatabase(readDatabaseEnv().DATABASE_URL, `test-${randomUUID()}`);
  });
  afterAll(() => made?.drop());
  return {
    url: () => {
      if (!made) throw new Error("expected to be asked while a test runs");
      return made.url;
    },
  };
}
