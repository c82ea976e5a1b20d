import { StartError } from "@millrace/env";
import pg from "pg";
import { type KeptServer, startKept } from "./keeper.ts";
import { maskCredentials } from "./mask-credentials.ts";

export interface DevPostgres {
  /** What clients connect to. May hold the credentials of DATABASE_URL; `reason` never does. */
  readonly url: string;
  readonly kind: "configured" | "embedded";
  /** One sentence for the start line, without its full stop: which PostgreSQL this is, and why. */
  readonly reason: string;
  /** The server's process, for a test that kills it. Nothing for a configured one, which is not ours. */
  readonly pid?: number;
  /** Resolves with a sentence, without its full stop, when a server of ours is gone without having been stopped. */
  readonly exited: Promise<string>;
  /** Ends a server of ours, its clients connected or not, and removes its data. Leaves a configured one alone. */
  stop(): Promise<void>;
}

export interface PostgresOrder {
  readonly user: string;
  readonly password: string;
  /** Defaults to any free one. */
  readonly port?: number;
}

const order = { user: "millrace", password: "millrace" };
const configuredAnswersWithinMs = 5_000;

/**
 * The PostgreSQL for development and tests: the configured one, else a real server that npm brought along. Never falls back in silence.
 * One that is started here listens on 127.0.0.1 only, keeps its data in a folder that goes with it, and ends with this process, however
 * that ends.
 *
 * @param options.databaseUrl as DATABASE_URL. Where given, it is this one or an error.
 * @param options.port defaults to any free one. A server that a test takes away comes back on its old one.
 * @throws StartError when `databaseUrl` is given and does not answer within 5 seconds, or when the server does not come up
 */
export async function startPostgres(
  options: { databaseUrl?: string | undefined; port?: number } = {},
): Promise<DevPostgres> {
  const { databaseUrl, port } = options;
  if (databaseUrl) return useConfigured(databaseUrl);
  const running = await startEmbedded(port);
  return {
    url: urlOf(running.port),
    kind: "embedded",
    reason: "embedded, no DATABASE_URL: its data is gone when it stops, not for production",
    pid: running.pid,
    exited: running.exited.then((why) => `The development PostgreSQL is gone: it ${why}`),
    stop: running.stop,
  };
}

function startEmbedded(port: number | undefined): Promise<KeptServer> {
  const keeper = {
    script: new URL("./postgres-keeper.ts", import.meta.url),
    name: "PostgreSQL",
    isServer: false,
    untilAnswers: (answersOn: number, withinMs: number) => pingPostgres(urlOf(answersOn), withinMs),
  };
  return startKept<PostgresOrder>(keeper, { ...order, ...(port !== undefined && { port }) });
}

function urlOf(port: number): string {
  return `postgres://${order.user}:${order.password}@127.0.0.1:${port}/postgres`;
}

async function useConfigured(databaseUrl: string): Promise<DevPostgres> {
  const url = URL.parse(databaseUrl);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new StartError(
      "DATABASE_URL: expected postgres://user:password@host:port/database, got another form. Correct it, or unset it to use the embedded PostgreSQL.",
    );
  }
  const shown = maskCredentials(url);
  try {
    await pingPostgres(databaseUrl, configuredAnswersWithinMs);
  } catch (error) {
    throw new StartError(
      `DATABASE_URL is ${shown}, and that PostgreSQL is not reachable: ${error instanceof Error ? error.message : error}. Start it, correct DATABASE_URL, or unset it to use the embedded one.`,
    );
  }
  return {
    url: databaseUrl,
    kind: "configured",
    reason: `${shown}, from DATABASE_URL`,
    exited: new Promise(() => {}),
    stop: async () => {},
  };
}

async function pingPostgres(url: string, withinMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: withinMs, query_timeout: withinMs });
  // A connection that breaks later than the answer would be an error that nobody catches.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("select 1");
  } finally {
    await client.end();
  }
}

/**
 * A database of its own on `serverUrl`'s server, for a test file.
 *
 * @returns its URL, and `drop`, which removes it and cuts whoever is connected
 */
export async function createDatabase(serverUrl: string, name: string): Promise<{ url: string; drop(): Promise<void> }> {
  await runOnServer(serverUrl, `create database ${pg.escapeIdentifier(name)}`);
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  const drop = () => runOnServer(serverUrl, `drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
  return { url: url.href, drop };
}

async function runOnServer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
