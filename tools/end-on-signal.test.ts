import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { root } from "./workers.ts";

const preload = join(root, "tools/end-on-signal.mjs");

async function run(program: string) {
  const child = spawn(process.execPath, ["--import", preload, "--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [stdout, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { stdout, code, signal };
}

// A container's first process lacks the signals' own effects. Elsewhere they would be a `signal` here, and no code.
test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
])("a %s ends a program that is not there yet, with %i", async (signal, code) => {
  const program = `process.kill(process.pid, "${signal}"); setTimeout(() => {}, 20_000);`;
  expect(await run(program)).toEqual({ stdout: "", code, signal: null });
});

test("a program that listens itself is left to end in order", async () => {
  const program = `
    process.on("SIGTERM", () => setImmediate(() => { console.log("in order"); process.exit(0); }));
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => {}, 20_000);`;
  expect(await run(program)).toEqual({ stdout: "in order\n", code: 0, signal: null });
});
