import { afterEach, expect, test, vi } from "vitest";
import { type Command, isAlive, startCommand } from "../test-support/command.ts";

const started: Command[] = [];

function chaos(...args: string[]): Command {
  const command = startCommand(["chaos", ...args]);
  started.push(command);
  return command;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((command) => command.remove()));
});

/** The value of a row of the table. */
function row(output: string, name: string): string | undefined {
  return new RegExp(`^  ${name}  +(.*)$`, "m").exec(output)?.[1];
}

test("every job ends once, whatever is killed, cut off and restarted", { timeout: 120_000 }, async () => {
  const command = chaos("--jobs", "600", "--seconds", "9", "--seed", "26");
  const exitCode = await command.ended;
  const output = command.output();
  expect(output).toContain("Every promise held.");
  expect(exitCode).toBe(0);
  expect([row(output, "jobs"), row(output, "acknowledged")]).toEqual(["600", "600"]);
  expect([row(output, "lost"), row(output, "stuck"), row(output, "in two places")]).toEqual(["0", "0", "0"]);
  // What the run claims to have gone through, it went through.
  for (const name of [
    "completed",
    "skipped",
    "cancelled",
    "workers killed",
    "workers deployed away",
    "connections cut",
  ]) {
    expect(Number(row(output, name)), name).toBeGreaterThan(0);
  }
  const restarts = output.includes("Redis: embedded") ? /^left out: .* memory only/ : /^1 clean, 1 killed$/;
  expect(row(output, "Redis restarts")).toMatch(restarts);
});

test("a run that is told to end leaves no process behind, and does not pass", async () => {
  const command = chaos("--jobs", "600", "--seconds", "60");
  await command.untilPrinted(/600 jobs/);
  const processes = await command.processes();
  // The bootstrap, the command, three workers, the producer and Redis.
  expect(processes.length).toBeGreaterThan(6);
  command.process.kill("SIGINT");
  expect(await command.ended).toBe(1);
  expect(command.output()).toContain("the run shows nothing");
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), 5_000);
});

test("a run that is killed outright takes its workers and its Redis along", async () => {
  const command = chaos("--jobs", "600", "--seconds", "60");
  await command.untilPrinted(/600 jobs/);
  const processes = await command.processes();
  command.process.kill("SIGKILL");
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), 10_000);
});

test("a wrong argument ends the command with the sentence alone", async () => {
  const command = chaos("--jobs", "many");
  expect(await command.ended).toBe(1);
  expect(command.output()).toContain("--jobs: ");
  expect(command.output()).not.toContain("    at ");
});
