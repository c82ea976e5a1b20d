import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { listWorkers, root } from "./workers.ts";

/** A program as it runs where nothing at all is set. */
async function start(file: string) {
  const child = spawn(process.execPath, ["--conditions=millrace-source", join(root, file)], {
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  // A single one has the hint on its line.
  return { code, stdout, lines: stderr.trim().split(/\n| (?=See \.env)/) };
}

const programs = ["apps/api/src/main.ts", ...listWorkers().map((domain) => `apps/worker/src/${domain}/worker.ts`)];

test.each(programs)(
  "%s, for which nothing is set, ends with all that it misses, a line for each and no stack",
  async (file) => {
    const { code, stdout, lines } = await start(file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(lines.pop()).toBe("See .env.example for every variable and its meaning.");
    for (const line of lines) expect(line).toMatch(/^Environment variable [A-Z_]+ is not set: expected /);
    expect(lines.map((line) => line.split(" ")[2])).toContain("REDIS_URL");
  },
);
