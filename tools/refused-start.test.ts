import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { listWorkers, root } from "./workers.ts";

const { NODE_COMPILE_CACHE } = process.env;
const servers = ["apps/api/src/main.ts", ...listWorkers().map((domain) => `apps/worker/src/${domain}/worker.ts`)];

/** A program as it runs where nothing at all is set. */
async function start(file: string, ...args: string[]) {
  const child = spawn(process.execPath, ["--conditions=millrace-source", join(root, file), ...args], {
    env: { NODE_COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, stdout, lines: stderr.trim().split("\n") };
}

test("every program that nothing is set for ends with all that it misses, a line for each and no stack", async () => {
  const refusals = servers.map(async (file) => {
    const { code, stdout, lines } = await start(file);
    expect({ code, stdout }, file).toEqual({ code: 1, stdout: "" });
    expect(lines.length, file).toBeGreaterThan(1);
    for (const line of lines) expect(line, file).toMatch(/^Environment variable [A-Z_]+ is not set: expected /);
    expect(lines.join("\n"), file).toContain("REDIS_URL");
  });
  await Promise.all(refusals);
}, 60_000);

test("the command line says so as its other errors", async () => {
  const { code, stdout, lines } = await start("apps/cli/src/main.ts", "stats");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(lines).toEqual([
    expect.stringMatching(/^millrace: Environment variable REDIS_URL is not set: expected redis:/),
  ]);
});
