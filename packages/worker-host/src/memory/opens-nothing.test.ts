import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const packageDir = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a program in a process of its own without any setting of this one, in which whatever connects or asks the environment ends it. */
async function runGuarded(program: string): Promise<{ stdout: string; stderr: string; code?: number }> {
  const guarded = `
    const net = process.getBuiltinModule("node:net");
    const end = (what) => { console.error(what); process.exit(3); };
    net.connect = net.createConnection = net.Socket.prototype.connect = () => end("a connection was opened");
    const { hosted, startMemoryHost } = await import("@millrace/worker-host/memory");
    const { emailContract, enqueue, getRedisConnection } = await import("@millrace/worker-config");
    process.env = new Proxy({}, { get: (_, name) => end("the environment was asked for " + String(name)) });
    ${program}`;
  const args = ["--conditions=millrace-source", "--input-type=module", "-e", guarded];
  const { NODE_COMPILE_CACHE } = process.env;
  // A run that ends with another code than 0 rejects with the same fields.
  return promisify(execFile)(process.execPath, args, {
    cwd: packageDir,
    env: { NODE_COMPILE_CACHE },
    timeout: 40_000,
  }).catch((e) => e);
}

test("a host runs a job from end to end without a connection or the environment, and the process ends by itself", async () => {
  const run = await runGuarded(`
    const sendEmail = async ({ to }, { attempt }) => {
      if (attempt === 1) throw new Error("greylisted");
      return { messageId: to };
    };
    const memory = startMemoryHost([hosted(emailContract, { sendEmail })]);
    const mail = { to: "ada@example.com", subject: "Hello", text: "Hello, Ada." };
    const { jobId } = await memory.enqueue(emailContract, "sendEmail", mail, { retryIntervalsMs: [1], delayMs: 1 });
    await memory.drain();
    const { status, attempts, result } = memory.findJob("email", jobId);
    process.stdout.write(["ended", status, attempts, result.messageId].join(" "));`);
  expect(run).toMatchObject({ stderr: "" });
  const lines = run.stdout.trim().split("\n");
  expect(lines.at(-1)).toBe("ended success 2 ada@example.com");
  // By default a retry is a warning, and a success is nothing.
  expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toMatchObject([{ outcome: "retry", level: 40 }]);
});

test.each([
  ["a connection", `net.connect(1)`, "a connection was opened\n"],
  ["a question to the environment", `getRedisConnection("worker")`, "the environment was asked for REDIS_URL\n"],
])("the guard of this test notices %s", async (_, program, stderr) => {
  expect(await runGuarded(program)).toMatchObject({ code: 3, stderr });
});
