import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { expect, test } from "vitest";
import { run } from "../test/run.ts";
import { createCli } from "./cli.ts";
import { buildProgram } from "./program.ts";

const root = join(import.meta.dirname, "../../..");

function build() {
  const output = { write: () => {} };
  const signal = new AbortController().signal;
  const terminal = { stdin: process.stdin, stdout: output, stderr: output, signal, user: "ada", isPlain: true };
  return buildProgram(createCli(terminal, false));
}

/** Every command that does something, by the words that lead to it. */
function leaves(command: CommandUnknownOpts, path: readonly string[] = []): (readonly string[])[] {
  if (command.commands.length === 0) return [path];
  return command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}

/** The words of a line as a shell would hand them over. */
function words(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replaceAll(/^['"]|['"]$/g, ""));
}

/** Parses a line and does nothing. Throws where it is not valid. */
async function parse(line: string): Promise<void> {
  const program = build();
  const silence = (command: CommandUnknownOpts) => {
    if (command.commands.length === 0) command.action(() => {});
    command.commands.forEach(silence);
  };
  silence(program);
  const [command = ""] = line.split(/ (?:\||&&|>) /);
  await program.parseAsync(words(command), { from: "user" });
}

const paths = leaves(build());

test.each(paths.map((path) => path.join(" ")))("the help of `%s` shows an example that parses", async (path) => {
  const { exitCode, stdout, stderr } = await run([...path.split(" "), "--help"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toContain("--json");
  const lines = [...stdout.matchAll(/^ {2}(?:.* \| )?millrace (.*)$/gm)].map(([, line = ""]) => line);
  expect(lines.filter((line) => line.startsWith(path))).not.toHaveLength(0);
  for (const line of lines) await parse(line);
});

test("every command of docs/cli.md parses, and it names each there is", async () => {
  const document = readFileSync(join(root, "docs/cli.md"), "utf8");
  const blocks = [...document.matchAll(/```sh\n(.*?)```/gs)].map(([, block = ""]) => block);
  const lines = [...blocks.join("\n").matchAll(/^(?:.* \| )?(?:pnpm (?:--silent )?jobs|millrace) (.*)$/gm)];
  expect(lines.length).toBeGreaterThan(10);
  for (const [, line = ""] of lines) await parse(line);
  for (const path of paths) expect(document).toContain(path.join(" "));
});

test("the program's help lists every exit code", async () => {
  const { stdout } = await run(["--help"]);
  for (const code of [0, 1, 2, 3, 4, 5, 70, 130]) expect(stdout).toMatch(new RegExp(`^ {2}${code} `, "m"));
});

test.each([
  ["no command", []],
  ["a group without a command", ["queues"]],
  ["an unknown command", ["fly"]],
  ["an unknown option", ["stats", "--fast"]],
  ["a missing argument", ["status", "email"]],
  ["too many arguments", ["stats", "email"]],
  ["an unknown queue", ["status", "emial", "1"]],
  ["a number that is none", ["list", "--limit", "many"]],
  ["a duration without a unit", ["dead-letters", "purge", "--older-than", "30"]],
  ["a purge without an age", ["dead-letters", "purge"]],
  ["an unknown role", ["keys", "create", "ci", "--role", "emperor"]],
])("%s is wrong usage: 2, and one sentence on stderr", async (_, argv) => {
  const json = await run([...argv, "--json"]);
  expect(json).toMatchObject({ exitCode: 2, stdout: "", error: { code: "usage" } });
  expect(json.stderr.split("\n")).toHaveLength(2);
  expect(await run(argv)).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("millrace: ") });
});
