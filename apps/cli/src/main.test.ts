import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { freePort } from "@millrace/dev-services";
import { closeQueues } from "@millrace/worker-config";
import { afterAll, afterEach, expect, test } from "vitest";
import { run } from "../test/run.ts";

const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});
afterAll(closeQueues);

/** The program as a process, once it has printed something. */
async function start(argv: readonly string[]) {
  const args = ["--conditions=millrace-source", join(import.meta.dirname, "main.ts"), ...argv];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  const stderr = text(child.stderr);
  const ended = once(child, "exit").then(([code, signal]: (number | string | null)[]) => code ?? signal);
  const early = ended.then(async (code) => {
    throw new Error(`ended with ${code} before it printed anything: ${await stderr}`);
  });
  await Promise.race([once(child.stdout, "data"), early]);
  early.catch(() => {});
  return { child, ended, stderr };
}

test("Ctrl-C ends the program at once with 130, and a closed pipe ends it quietly with 0", async () => {
  const argv = ["stats", "--watch", "--interval", "100ms"];
  const [interrupted, piped] = await Promise.all([start(argv), start(argv)]);
  interrupted.child.kill("SIGINT");
  piped.child.stdout.destroy();
  expect(await Promise.all([interrupted.ended, piped.ended])).toEqual([130, 0]);
  for (const { stderr } of [interrupted, piped]) expect(await stderr).not.toMatch(/EPIPE|Error|^ +at /m);
});

test("a Redis that is away is 4, told once and as JSON where that was asked for", async () => {
  // What is open already would go on.
  await closeQueues();
  const { REDIS_URL } = process.env;
  // Nobody listens there.
  process.env.REDIS_URL = `redis://127.0.0.1:${await freePort()}`;
  try {
    for (const argv of [["stats"], ["owners", "block", "owner-7"]]) {
      const { exitCode, stdout, stderr, error } = await run([...argv, "--json"]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
      for (const line of stderr.trimEnd().split("\n")) expect(JSON.parse(line)).toBeTypeOf("object");
      if (argv[0] === "stats") expect(stderr).toContain("ECONNREFUSED");
      expect(error?.code).toMatch(/^(queue|redis)_unavailable$/);
    }
  } finally {
    process.env.REDIS_URL = REDIS_URL;
  }
});

test("without REDIS_URL the error names what to set", async () => {
  const { REDIS_URL } = process.env;
  process.env.REDIS_URL = "";
  try {
    expect(await run(["stats", "--json"])).toMatchObject({
      exitCode: 2,
      error: { code: "invalid_environment", message: expect.stringContaining("REDIS_URL") },
    });
  } finally {
    process.env.REDIS_URL = REDIS_URL;
  }
});
