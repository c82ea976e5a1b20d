import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { noConnections, runNode } from "../test/run-node.ts";

const packageDir = fileURLToPath(new URL("..", import.meta.url));
const runSource = (program: string) =>
  runNode(["--conditions=millrace-source", "--input-type=module", "-e", program], packageDir);

test("importing the package without REDIS_URL opens nothing, and the process ends by itself", async () => {
  const run = await runSource(`${noConnections}
    const { contracts, emailQueue, closeQueues } = await import("@millrace/worker-config");
    console.log(emailQueue.name, Object.keys(contracts).length);
    await closeQueues();`);
  expect(run).toEqual({ code: 0, stdout: "email 13\n", stderr: "" });
});

test("the first use without REDIS_URL is a sentence that says what to set, and connects nowhere", async () => {
  const run = await runSource(`${noConnections}
    const { emailContract, enqueue } = await import("@millrace/worker-config");
    await enqueue(emailContract, "sendEmail", { to: "a@example.com", subject: "Hi", text: "Hi" })
      .catch((error) => console.log(error.name, error.message));`);
  expect(run.stdout).toMatch(/^EnvironmentError Environment variable REDIS_URL is not set: expected redis:/);
  expect(run.code).toBe(0);
});

test("the guard of these tests notices a connection", async () => {
  const run = await runSource(`${noConnections}
    process.env.REDIS_URL = "redis://127.0.0.1:1";
    const { emailQueue } = await import("@millrace/worker-config");
    await emailQueue.count();`);
  expect(run).toMatchObject({ code: 3, stderr: "a connection was opened\n" });
});

test("the contracts load zod, and neither bullmq nor ioredis nor anything else that is installed", async () => {
  const run = await runSource(`
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => {
      const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*node_modules\\/)/.exec(url)?.[1];
      if (name) loaded.add(name);
      return next(url, context);
    } });
    const { contracts } = await import("@millrace/worker-config/contracts");
    console.log(Object.keys(contracts).length, [...loaded].join());`);
  expect(run).toEqual({ code: 0, stdout: "13 zod\n", stderr: "" });
});
