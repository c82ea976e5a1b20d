import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const beginning = `
import { startProgram } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
import { parseEnv, StartError } from ${JSON.stringify(import.meta.resolve("@millrace/env"))};
import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
const readSettings = () => parseEnv(z.object({ SIZE: z.coerce.number({ error: "expected a number" }) }));
`;

async function run(program: string, env: Record<string, string> = {}) {
  const child = spawn(
    process.execPath,
    ["--conditions=millrace-source", "--input-type=module", "-e", beginning + program],
    { env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code, stdout, stderr };
}

const start = `startProgram("demo", readSettings);`;
const refusal =
  "Environment variable SIZE is not valid: expected a number. See .env.example for every variable and its meaning.";

test("a start with a wrong setting ends with 1 and the sentence alone, in production as one line of the log", async () => {
  const [here, production] = await Promise.all([
    run(start, { SIZE: "big" }),
    run(start, { SIZE: "big", NODE_ENV: "production", LOG_FORMAT: "pretty", LOG_LEVEL: "silent" }),
  ]);
  expect(here).toEqual({ code: 1, stdout: "", stderr: `${refusal}\n` });
  expect(production).toMatchObject({ code: 1, stderr: "" });
  expect(JSON.parse(production.stdout)).toMatchObject({ level: 60, name: "demo", code: "cannot_start", msg: refusal });
});

test("what a person can mend is said without a stack later on as well, and whoever did not wait for it", async () => {
  const { code, stdout, stderr } = await run(`${start} Promise.reject(new StartError("Port 80 is taken."));`, {
    SIZE: "1",
  });
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: "Port 80 is taken.\n" });
});

test("a crash ends with 1 and its stack in the log, also before there are settings", async () => {
  const lost = `throw new Error("lost");`;
  const [early, late] = await Promise.all([
    run(`startProgram("demo", () => { ${lost} });`, { LOG_LEVEL: "loud" }),
    run(`${start} setImmediate(() => { ${lost} });`, { SIZE: "1" }),
  ]);
  for (const { code, stdout, stderr } of [early, late]) {
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const line = JSON.parse(stdout);
    expect(line).toMatchObject({ level: 60, name: "demo", msg: "crashed", err: { message: "lost" } });
    expect(line.err.stack).toContain("    at ");
  }
});

test("a crash by something that throws when it is looked at is a line of the log as well, and ends with 1", async () => {
  const hide = (field: string, target: string) =>
    `Object.defineProperty(${target}, "${field}", { get() { throw new Error("looked at"); } })`;
  const crashes = [
    `throw ${hide("message", "new Error()")};`,
    `setImmediate(() => { throw ${hide("message", `new StartError("")`)}; });`,
    `setImmediate(() => { throw new Proxy({}, { getPrototypeOf() { throw new Error("looked at"); } }); });`,
  ];
  const ends = await Promise.all(crashes.map((crash) => run(`${start} ${crash}`, { SIZE: "1" })));
  for (const { code, stdout, stderr } of ends) {
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ level: 60, name: "demo", msg: expect.stringMatching(/^crashed/) });
  }
});
