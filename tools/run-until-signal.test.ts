import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive, killTree } from "./test-support/command.ts";
import { root } from "./workers.ts";

// As `npm run dev` is built: a program that passes signals on, one that supervises in a process group of its own, and programs that have programs of
// their own. These take their time for ever.
const stubborn = `
const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
process.on("SIGTERM", () => console.log("told to end"));
console.log("pids", process.pid, child.pid);`;
const supervising = `
import { runUntilSignal } from "./tools/run-until-signal.ts";
import { supervise } from "./tools/supervise.ts";
const env = { STUBBORN: ${JSON.stringify(stubborn)} };
await runUntilSignal(async (cleanUp) => {
  const command = 'node -e "eval(process.env.STUBBORN)"';
  const supervisor = supervise(["a", "b"].map((name) => ({ name, command, cwd: process.cwd(), env })));
  cleanUp(supervisor.stop, supervisor.kill);
  return supervisor.firstExit.then(() => { throw new Error("ended"); });
});`;
const passingOn = `
import { runProgram } from "./tools/run-program.mjs";
const args = ["--conditions=millrace-source", "--input-type=module", "-e", ${JSON.stringify(supervising)}];
process.exit(await runProgram(process.execPath, args, { cwd: process.cwd(), detached: true }));`;

test("a second signal ends everything at once, whatever takes its time, and each key press is one", async () => {
  const command = spawn(process.execPath, ["--input-type=module", "-e", passingOn], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(command, "exit");
  let output = "";
  command.stdout.on("data", (chunk: Buffer) => {
    output += chunk;
  });
  const pids = () =>
    [...output.matchAll(/pids (\d+) (\d+)/g)].flatMap(([, own, child]) => [Number(own), Number(child)]);
  onTestFinished(async () => {
    if (command.exitCode === null) await killTree(command);
    for (const pid of pids().filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  await vi.waitFor(() => expect(pids()).toHaveLength(4), 20_000);
  // One press, which the terminal and npm both send.
  command.kill("SIGINT");
  command.kill("SIGINT");
  await vi.waitFor(() => expect(output).toContain("[a] told to end"), 10_000);
  expect(pids().filter(isAlive)).toHaveLength(4);
  command.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  await vi.waitFor(() => expect(pids().filter(isAlive)).toEqual([]), 5_000);
});
