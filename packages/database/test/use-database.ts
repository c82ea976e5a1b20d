import { randomUUID } from "node:crypto";
import { createDatabase } from "@millrace/dev-services";
import { afterAll, beforeAll } from "vitest";
import { connectDatabase, type Database } from "../src/connect-database.ts";
import { readDatabaseEnv } from "../src/env.ts";
import { migrateDatabase } from "../src/migrate-database.ts";

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

/** A database for one test file, its schema up to date and a pool connected to it. `database()` is known once its tests run. */
export function useDatabase(): { url(): string; database(): Database } {
  const empty = useEmptyDatabase();
  let opened: Database | undefined;
  beforeAll(async () => {
    await migrateDatabase(empty.url());
    opened = connectDatabase({ url: empty.url() });
  });
  afterAll(() => opened?.close());
  return {
    url: empty.url,
    database: () => {
      if (!opened) throw new Error("expected to be asked while a test runs");
      return opened;
    },
  };
}
