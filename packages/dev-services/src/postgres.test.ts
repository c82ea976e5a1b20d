import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { startPostgres } from "./postgres.ts";

async function ask(url: string, question: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(question)).rows[0];
  } finally {
    await client.end();
  }
}

test("the embedded PostgreSQL outlives a Ctrl-C that its parent survives, and goes when its parent is killed", async () => {
  const script = fileURLToPath(new URL("../test/hold-postgres.ts", import.meta.url));
  const holder = spawn(process.execPath, ["--conditions=millrace-source", script], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  if (holder.pid === undefined) throw new Error("expected a process");
  const [url]: string[] = await once(createInterface(holder.stdout), "line");
  process.kill(-holder.pid, "SIGINT");
  expect(await ask(url ?? "", "select current_setting('server_encoding') as encoding")).toEqual({ encoding: "UTF8" });
  process.kill(holder.pid, "SIGKILL");
  await vi.waitFor(() => expect(ask(url ?? "", "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" }), 10_000);
});

test("one that is killed says so; one that is stopped is gone, its clients connected or not, and reports no accident", async () => {
  const killed = await startPostgres();
  process.kill(Number(killed.pid), "SIGKILL");
  await expect(killed.exited).resolves.toMatch(/^The development PostgreSQL is gone: it ended with SIGKILL$/);

  const stopped = await startPostgres({ port: Number(new URL(killed.url).port) });
  const onExit = vi.fn();
  void stopped.exited.then(onExit);
  const client = new pg.Client({ connectionString: stopped.url });
  client.on("error", () => {});
  await client.connect();
  await stopped.stop();
  await expect(ask(stopped.url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(onExit).not.toHaveBeenCalled();
});

test("a configured one is used as it is, and left alone", async () => {
  const url = String(process.env.DATABASE_URL);
  const configured = await startPostgres({ databaseUrl: url });
  expect(configured.reason).toMatch(/^postgres:\/\/\*\*\*:\*\*\*@.*, from DATABASE_URL$/);
  await configured.stop();
  expect(await ask(url, "select 1 as one")).toEqual({ one: 1 });
});

test.each([
  ["postgres://user:topsecret@127.0.0.1:1/jobs", /DATABASE_URL is postgres:.*not reachable: .*ECONNREFUSED/],
  ["mysql://user:topsecret@127.0.0.1/jobs", /DATABASE_URL: expected postgres:/],
])("a configured one that cannot be used is an error that shows no password", async (databaseUrl, message) => {
  const error = await startPostgres({ databaseUrl }).catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(message);
  expect(String(error)).not.toContain("topsecret");
});
