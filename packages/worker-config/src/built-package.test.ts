import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPackage, programOf } from "../test/built-package.ts";
import { noConnections, runNode } from "../test/run-node.ts";
import { emailContract } from "./contracts/index.ts";

let built: Awaited<ReturnType<typeof buildPackage>>;
let app: string;

beforeAll(async () => {
  built = await buildPackage();
  app = await built.layOut(["bullmq", "ioredis", "zod"]);
}, 120_000);
afterAll(() => built?.remove());

const run = async (file: string, program: string, inApp = app) => {
  await writeFile(join(inApp, file), program);
  return runNode([file], inApp);
};
const look = `console.log(emailQueue.name, emailQueue instanceof Queue, Object.keys(contracts).length, makeJobId("a", "b"));`;

test("an ES module imports the built package beside bullmq, ioredis and zod alone; nothing opens, the process ends", async () => {
  const result = await run(
    "app.mjs",
    `${noConnections}
    const { contracts, emailQueue, makeJobId } = await import("@millrace/worker-config");
    const { Queue } = await import("bullmq");
    ${look}`,
  );
  expect(result).toEqual({ code: 0, stdout: "email true 13 a-b\n", stderr: "" });
});

test("a CommonJS module requires it just so", async () => {
  const result = await run(
    "app.cjs",
    `${noConnections}
    const { contracts, emailQueue, makeJobId } = require("@millrace/worker-config");
    const { Queue } = require("bullmq");
    ${look}`,
  );
  expect(result).toEqual({ code: 0, stdout: "email true 13 a-b\n", stderr: "" });
});

test("the built package enqueues, from either kind of module, into the same queue", async () => {
  const { REDIS_URL = "", QUEUE_PREFIX = "" } = process.env;
  const use = `
    Object.assign(process.env, ${JSON.stringify({ REDIS_URL, QUEUE_PREFIX })});
    const mail = { to: "a@example.com", subject: "Hi", text: "Hi" };
    enqueue(emailContract, "sendEmail", mail, { jobId: "built" })
      .then((added) => console.log(added.status)).finally(closeQueues);`;
  const names = "{ closeQueues, emailContract, enqueue }";
  const esm = await run("use.mjs", `import ${names} from "@millrace/worker-config"; ${use}`);
  const cjs = await run("use.cjs", `const ${names} = require("@millrace/worker-config"); ${use}`);
  expect([esm, cjs].map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ""],
    [0, ""],
  ]);
  expect([esm.stdout, cjs.stdout]).toEqual(["created\n", "duplicate\n"]);
});

test("the contracts work beside zod alone, in either kind of module", async () => {
  const contractsApp = await built.layOut(["zod"]);
  const stdout = `${emailContract.actionNames.options.join()}\n`;
  const look = `console.log(emailContract.actionNames.options.join());`;
  const esm = `import { emailContract } from "@millrace/worker-config/contracts"; ${look}`;
  const cjs = `const { emailContract } = require("@millrace/worker-config/contracts"); ${look}`;
  expect(await run("app.mjs", esm, contractsApp)).toEqual({ code: 0, stdout, stderr: "" });
  expect(await run("app.cjs", cjs, contractsApp)).toEqual({ code: 0, stdout, stderr: "" });
});

test("neither code nor types name another package of ours", async () => {
  const dist = join(app, "node_modules/@millrace/worker-config/dist");
  const files = await readdir(dist);
  const entries = ["contracts", "index"].flatMap((name) => [
    `${name}.cjs`,
    `${name}.d.cts`,
    `${name}.d.mts`,
    `${name}.mjs`,
  ]);
  // Beside them may lie what two of them share.
  expect(files).toEqual(expect.arrayContaining(entries));
  for (const file of files) {
    const text = await readFile(join(dist, file), "utf8");
    const named = [...text.matchAll(/(?:from|require\(|import\()\s*["']([^"'.][^"']*)["']/g)].map(([, name]) => name);
    const foreign = named.filter((name) => !/^(?:(?:bullmq|ioredis|zod)(?:\/.+)?|node:[a-z_]+)$/.test(name ?? ""));
    expect({ file, foreign }).toEqual({ file, foreign: [] });
  }
});

const consumer = `
  import { type EmailQueueJobData, emailContract, emailQueue, enqueue, getRedisConnection, type TypedQueue } from "@millrace/worker-config";
  import { EmailQueueJobAction } from "@millrace/worker-config/contracts";
  import { type Queue, Worker } from "bullmq";

  const mail = { to: "ada@example.com", subject: "Hello", text: "Hello" };
  const job: EmailQueueJobData = { type: EmailQueueJobAction.sendEmail, data: mail };
  export const plain: Queue = emailQueue;
  export const typed: TypedQueue<EmailQueueJobData> = emailQueue;
  export const worker = () => new Worker("email", null, { connection: getRedisConnection("worker") });
  export const added = async () => [
    (await enqueue(emailContract, "sendEmail", mail, { delayMs: 1 })).status === "created",
    await emailQueue.add("sendEmail", job),
  ];
  // @ts-expect-error no such action
  export const wrongAction = () => emailQueue.add("sendFax", job);
  // @ts-expect-error wrong data
  export const wrongData = () => enqueue(emailContract, "sendEmail", { to: 1 });
`;

test.each(["mts", "cts"])(
  "an app in TypeScript (.%s) compiles against the built types, strictly, and cannot enqueue what is wrong",
  async (extension) => {
    const file = `consumer.${extension}`;
    await writeFile(join(app, file), consumer);
    const flags = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "--ignoreConfig"];
    const modules = ["--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2023", "--types", ""];
    const compiled = await runNode([programOf("typescript", "bin/tsc"), ...flags, ...modules, file], app);
    expect(compiled.stdout).toBe("");
    expect(compiled.code).toBe(0);
  },
);
