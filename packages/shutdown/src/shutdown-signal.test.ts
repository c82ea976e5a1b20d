import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

// A process that stops for as long as its input is open, and says when it began to.
const program = `
import { onShutdownSignal } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
import { createLogger } from ${JSON.stringify(import.meta.resolve("@millrace/logger"))};
const input = process.stdin.resume();
onShutdownSignal(createLogger({ level: "info", format: "json" }), () => new Promise((done) => input.once("end", done)));
process.stdout.write("up\\n");`;

function start() {
  const child = spawn(process.execPath, ["--conditions=millrace-source", "--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  const untilPrinted = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => output.includes(text) && resolve();
      child.stdout.on("data", look);
      look();
    });
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  return { child, untilPrinted, exited: once(child, "exit").then(([code]) => code), output: () => output };
}

test("a Ctrl-C that arrives twice, from the terminal and from a parent, lets the work finish", async () => {
  const { child, untilPrinted, exited, output } = start();
  await untilPrinted("up");
  child.kill("SIGINT");
  child.kill("SIGINT");
  await untilPrinted("shutting down");
  child.stdin.end();
  expect(await exited).toBe(0);
  expect(output()).not.toContain("second signal");
});

test("a second signal after the first exits at once, with 1", async () => {
  const { child, untilPrinted, exited } = start();
  await untilPrinted("up");
  child.kill("SIGTERM");
  await untilPrinted("shutting down");
  // Pressed until it is heard: the first moments after a signal belong to the same key.
  const pressing = setInterval(() => child.kill("SIGTERM"), 20);
  expect(await exited).toBe(1);
  clearInterval(pressing);
});
