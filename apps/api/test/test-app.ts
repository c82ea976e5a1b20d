import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectDatabase, type Database, migrateDatabase } from "@millrace/database";
import { createFileStore } from "@millrace/file-store";
import { createLogger } from "@millrace/logger";
import type { Tracing } from "@millrace/tracing";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, expect } from "vitest";
import { createApp } from "../src/app.ts";
import { openJobFeed } from "../src/job-feed.ts";
import { openDirectory } from "../src/open-directory.ts";
import type { QueueLimits } from "../src/routes/health.ts";
import type { ScheduleLimits } from "../src/routes/schedule-request.ts";
import type { WaitLimits } from "../src/waiting-room.ts";

export const apiKey = "a-key-for-the-tests";
export const bearer = { authorization: `Bearer ${apiKey}` };
export const basic = { authorization: `Basic ${Buffer.from(`anybody:${apiKey}`).toString("base64")}` };

/** A valid mail, whose text no answer may repeat. */
export const mail = { to: "bob@example.com", subject: "Hello", text: "MARKER" };

export interface TestAppOptions {
  readonly apiKeys?: string[];
  readonly maxPayloadBytes?: number;
  readonly maxFileBytes?: number;
  readonly scheduleLimits?: ScheduleLimits;
  readonly queueLimits?: QueueLimits;
  readonly tracing?: Pick<Tracing, "startRequest"> | undefined;
  /** Defaults to the tests' server, its schema up to date. */
  readonly database?: Database;
  readonly maxWrongKeys?: number;
  readonly requestTimeoutMs?: number;
  readonly waitLimits?: Partial<WaitLimits>;
  readonly isWedged?: () => boolean;
  readonly trustProxy?: string;
  /** null: none, as in a production that has set none. */
  readonly sessionSecret?: string | null;
}

export type TestApp = FastifyInstance & { readonly logged: readonly string[]; readonly folder: string };

/**
 * One app for all tests of a file, closed after them. Call it before hooks of the file's own that need the app.
 *
 * @param options a function where they are there only when the tests begin, as a database is
 * @returns the app, from when the tests begin
 */
export function useTestApp(options: TestAppOptions | (() => TestAppOptions) = {}): () => TestApp {
  let app: TestApp | undefined;
  beforeAll(async () => {
    app = await createTestApp(typeof options === "function" ? options() : options);
  });
  afterAll(() => app?.close());
  return () => {
    if (!app) throw new Error("The app is there when the tests have begun: call it within a test or a hook.");
    return app;
  };
}

/**
 * The app as it is started, with its log lines kept instead of written, and its files in a folder of its own. Whoever needs one for a whole file takes `useTestApp`.
 */
export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const {
    apiKeys = [apiKey],
    maxPayloadBytes = 262_144,
    maxFileBytes = 1_000_000,
    scheduleLimits = { minIntervalMs: 60_000, maxPerWorkspace: 3 },
    database = connectDatabase({ url: String(process.env.DATABASE_URL), poolMax: 1 }),
    // The tests of one file come from one address.
    maxWrongKeys = 0,
    trustProxy,
    sessionSecret = "a-secret-of-thirty-two-characters",
  } = options;
  if (!options.database) await migrateDatabase(String(process.env.DATABASE_URL));
  const logged: string[] = [];
  const log = createLogger({ level: "info", format: "json", destination: { write: (line) => void logged.push(line) } });
  const folder = join(tmpdir(), `millrace-api-files-${randomUUID()}`);
  const files = createFileStore({ location: { kind: "folder", folder }, maxBytes: maxFileBytes });
  const feed = openJobFeed(log);
  const { directory, close: closeDirectory } = openDirectory(log);
  const app = await createApp({
    ...{ apiKeys, maxPayloadBytes, scheduleLimits, database, files, feed, directory, maxWrongKeys, trustProxy, log },
    tracing: options.tracing,
    ...(options.queueLimits && { queueLimits: options.queueLimits }),
    ...(options.isWedged && { isWedged: options.isWedged }),
    ...(options.waitLimits && { waitLimits: options.waitLimits }),
    ...(options.requestTimeoutMs && { requestTimeoutMs: options.requestTimeoutMs }),
    sessionSecret: sessionSecret ?? undefined,
  });
  app.addHook("onClose", async () => {
    feed.close();
    closeDirectory();
  });
  app.addHook("onClose", () => rm(folder, { recursive: true, force: true }));
  if (!options.database) app.addHook("onClose", () => database.close());
  return Object.assign(app, { logged, folder });
}

/** What every problem has in common, whatever it is about. */
export function expectProblem(response: LightMyRequestResponse, status: number, code: string): void {
  expect(response.statusCode).toBe(status);
  expect(response.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(response.json()).toMatchObject({
    type: "about:blank",
    title: expect.stringMatching(/^[A-Z]/),
    status,
    code,
    detail: expect.stringMatching(/\w/),
  });
  expect(response.body).not.toContain("MARKER");
}

/** Every route of the app but wildcards, which the router lists without their folder. Each parameter has a value. */
export function listRoutes(app: FastifyInstance): { method: string; url: string }[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .flatMap((line) => {
      const [, indent = "", path = "", methods = ""] = /^([│ ]*)[├└]── (.*) \(([A-Z, ]+)\)$/.exec(line) ?? [];
      if (path === "") return [];
      const depth = indent.length / 4;
      parents.splice(depth, Number.POSITIVE_INFINITY, path.replace(/:\w+(\|:\w+)*/g, "x"));
      if (path.endsWith("*")) return [];
      return methods.split(", ").map((method) => ({ method, url: parents.join("") }));
    });
}
