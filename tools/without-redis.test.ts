import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { migrateDatabase } from "@millrace/database";
import { freePort } from "@millrace/dev-services";
import { afterEach, beforeAll, expect, test } from "vitest";
import { listWorkers, root } from "./workers.ts";

const { DATABASE_URL = "", NODE_COMPILE_CACHE = "" } = process.env;
const running: ChildProcess[] = [];

// A process that is told to end in the middle of its first migration waits for that.
beforeAll(() => migrateDatabase(DATABASE_URL));
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** A worker's real process. Resolves with where it says how it is. */
async function startWorker(domain: string, env: Record<string, string>) {
  const main = join(root, "apps/worker/src", domain, "worker.ts");
  const child = spawn(process.execPath, ["--conditions=millrace-source", main], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  const exited = once(child, "close").then(([code, signal]) => code ?? signal);
  const told = Promise.withResolvers<string>();
  const lines: string[] = [];
  createInterface(child.stdout).on("line", (line) => {
    lines.push(line);
    const { health } = JSON.parse(line);
    if (health) told.resolve(health);
  });
  const ended = exited.then((code) => {
    throw new Error(`${domain}: expected a process that waits for Redis, got exit ${code}`);
  });
  return { child, exited, lines, readyz: await Promise.race([told.promise, ended]) };
}

test("every worker that is started without Redis lives, says that it is not ready, and ends in order", async () => {
  const env = {
    REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    FILE_STORE_URL: pathToFileURL(join(tmpdir(), "millrace-never-used")).href,
    SMTP_URL: "smtp://127.0.0.1:1",
    AI_BASE_URL: "http://127.0.0.1:1/v1",
    ...{ DATABASE_URL, NODE_COMPILE_CACHE },
  };
  const checks = listWorkers().map(async (domain) => {
    const { child, exited, lines, readyz } = await startWorker(domain, env);
    expect((await fetch(readyz.replace(/readyz$/, "livez"))).status, domain).toBe(200);
    expect((await fetch(readyz)).status, domain).toBe(503);
    child.kill("SIGTERM");
    expect(await exited, lines.join("\n")).toBe(0);
  });
  await Promise.all(checks);
}, 60_000);
