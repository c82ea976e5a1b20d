import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { reserveRedis } from "../test/own-redis.ts";
import { apiKey, bearer } from "../test/test-app.ts";

const running: ChildProcess[] = [];

afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

/** The real process, with this environment and nothing of the test's own but where compiled sources are. */
function startApi(env: Record<string, string>) {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const { NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, ["--conditions=millrace-source", main], {
    env: { ...env, NODE_COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  const exited = once(child, "close").then(([code, signal]) => code ?? signal);
  return { child, exited, stderr: text(child.stderr) };
}

async function startListening(env: Record<string, string>) {
  const { child, ...rest } = startApi({ API_KEYS: apiKey, API_PORT: "0", ...env });
  const listening = new Promise<string>((resolve) => {
    createInterface(child.stdout).on("line", (line) => {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
  const failed = rest.exited.then(async (code) => {
    throw new Error(`expected the API to listen, got exit ${code}: ${await rest.stderr}`);
  });
  return { child, url: await Promise.race([listening, failed]), ...rest };
}

const { REDIS_URL = "", DATABASE_URL = "" } = process.env;
const FILE_STORE_URL = pathToFileURL(join(tmpdir(), "millrace-never-used")).href;
const production = { NODE_ENV: "production", REDIS_URL, DATABASE_URL, FILE_STORE_URL };

describe("a start is refused with a sentence", () => {
  test("where settings are not fit for production, all at once", async () => {
    const known = "millrace-development-key";
    const { child, exited } = startApi({ ...production, API_KEYS: known, WEBHOOK_ALLOW_PRIVATE: "true" });
    const stdout = await text(child.stdout);
    expect(await exited).toBe(1);
    const { level, name, msg } = JSON.parse(stdout);
    expect({ level, name }).toEqual({ level: 60, name: "api" });
    expect(msg).toContain("Environment variable API_KEYS is not valid: expected keys of your own in production");
    expect(msg).toContain("Environment variable WEBHOOK_ALLOW_PRIVATE is not valid: expected false in production");
    expect(stdout).not.toContain(known);
  });

  test("on a port that is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    if (address === null || typeof address === "string") throw new Error("expected a port");
    const { child, exited } = startApi({ ...production, API_KEYS: apiKey, API_PORT: String(address.port) });
    const stdout = await text(child.stdout);
    expect(await exited).toBe(1);
    const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect(last.msg).toContain(`Cannot listen on port ${address.port} of 127.0.0.1`);
    expect(last.msg).toContain("API_PORT");
    taken.close();
  });
});

describe("the process", () => {
  test("ends in order at SIGTERM, also while a client holds its connection", async () => {
    const { child, url, exited } = await startListening(production);
    const response = await fetch(`${url}/jobs/email/nope`, { headers: bearer });
    expect(response.status).toBe(404);
    const startedAt = performance.now();
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("stays alive where Redis cannot be reached, and finishes its requests before it ends at SIGTERM", async () => {
    const { url: unreachable } = await reserveRedis();
    const { child, url, exited, stderr } = await startListening({ ...production, REDIS_URL: unreachable });
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const underWay = fetch(`${url}/jobs/email/nope`, { headers: bearer });
    // A second request that is answered shows that the first one was read.
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const startedAt = performance.now();
    child.kill("SIGTERM");
    expect((await underWay).status).toBe(503);
    expect(await exited).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(await stderr).toBe("");
  });

  test("cuts an upload that drips when its grace is over, and ends in order", async () => {
    const { child, url, exited, stderr } = await startListening({ ...production, API_SHUTDOWN_GRACE_MS: "300" });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    // Whether it ends with a reset is the system's choice.
    const cut = new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));
    socket.write(
      `POST /files?name=big HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer.authorization}\r\ncontent-type: text/plain\r\ncontent-length: 1000000\r\n\r\n`,
    );
    const drip = setInterval(() => socket.write("x"), 20);
    // A second request that is answered shows that the first one was read.
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    const startedAt = performance.now();
    child.kill("SIGTERM");
    await cut;
    clearInterval(drip);
    expect(performance.now() - startedAt).toBeGreaterThan(250);
    expect(await exited).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(await stderr).toBe("");
  });
});
