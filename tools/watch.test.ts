import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { root } from "./workers.ts";

test("a worker that is started alone, with no settings and no dev command beside it, says what to do and ends", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), "millrace-watch-"));
  onTestFinished(() => rm(stateDir, { recursive: true }));
  const flags = ["--import", "./tools/load-env.mjs", "--conditions=millrace-source"];
  const child = spawn(process.execPath, [...flags, "tools/watch.ts", "email"], {
    cwd: root,
    // As unset, also where the developer has a .env.
    env: {
      ...{ REDIS_URL: "", DATABASE_URL: "" },
      DEV_STATE_DIR: stateDir,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  const lines = stderr.trim().split("\n");
  expect(lines.at(-1)).toBe(
    "Start `npm run dev` beside this, which sets what it starts (a Redis, say), or set it in .env.",
  );
  for (const line of lines.slice(0, -2)) expect(line).toMatch(/^Environment variable [A-Z_]+ is not set: /);
  expect(stderr).toContain("REDIS_URL");
});
