import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
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
  return { code, stdout, lines: stderr.trim().split("\n") };
}

test.each(["apps/api/src/main.ts", "apps/worker/src/email/worker.ts"])(
  "%s, for which nothing is set, ends with all that it misses, a line for each and no stack",
  async (file) => {
    const { code, stdout, lines } = await start(file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(lines.pop()).toBe("See .env.example for every variable and its meaning.");
    for (const line of lines) expect(line).toMatch(/^Environment variable [A-Z_]+ is not set: expected /);
    const names = lines.map((line) => line.split(" ")[2]);
    expect(names).toEqual(expect.arrayContaining(["REDIS_URL", "DATABASE_URL", "FILE_STORE_URL"]));
  },
);

test.each(listWorkers())("worker %s begins as those above, with its settings", (domain) => {
  const program = readFileSync(join(root, "apps/worker/src", domain, "worker.ts"), "utf8");
  // The two for language models begin in a function that they share.
  expect(program).toMatch(/startProgram\(.*readSettings\)|startAiWorker\(.*readSettings\)/);
});
