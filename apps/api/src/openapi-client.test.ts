import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { generateSource } from "oazapfts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiKey, bearer, useTestApp } from "../test/test-app.ts";

const run = promisify(execFile);
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const app = useTestApp();
let folder: string;

beforeAll(async () => {
  // Beside the sources: Node strips no types below node_modules, and the client's own library is found from here.
  folder = await mkdtemp(join(import.meta.dirname, "../.client-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});
// What somebody writes who has nothing but the document. That wrong data does not compile is part of it.
const program = `
import * as millrace from "./client.ts";

const [baseUrl = "", key = ""] = process.argv.slice(2);
Object.assign(millrace.defaults, { baseUrl, headers: { authorization: \`Bearer \${key}\` } });
const mail = { to: "ada@example.com", subject: "Hello", text: "It works." };
const added = await millrace.postJobsEmailSendEmail({ data: mail, options: { delayMs: 60_000 } });
if (added.status !== 202) throw new Error(String(added.status));
const { jobId } = added.data;
const read = await millrace.getJobsByQueueAndJobId("email", jobId);
const state: string = read.status === 200 ? read.data.status : "unknown";
const dueAt: string | null = read.status === 200 ? read.data.dueAt : null;
const isDelayed = dueAt !== null && Date.parse(dueAt) > Date.now();
const letters = await millrace.getDeadLetters({ queue: ["email"], limit: 10 });
const messages: string[] = letters.status === 200 ? letters.data.items.map(({ message }) => message) : ["none"];
const removed = await millrace.deleteJobsByQueueAndJobId("email", jobId);
const again = await millrace.getJobsByQueueAndJobId("email", jobId);
const code = again.status === 404 ? again.data.code : undefined;
console.log(JSON.stringify({ state, isDelayed, messages, removed: removed.status, code }));
// @ts-expect-error
export const wrong = () => millrace.postJobsEmailSendEmail({ data: { ...mail, to: 1 } });
`;

test("a client that is generated from the OpenAPI document compiles, and adds, reads and removes a job", async () => {
  const document = join(folder, "openapi.json");
  await writeFile(document, (await app().inject({ url: "/openapi.json", headers: bearer })).body);
  await writeFile(join(folder, "client.ts"), await generateSource(document));
  await writeFile(join(folder, "program.ts"), program);
  const options =
    "--ignoreConfig --noEmit --strict --skipLibCheck --target esnext --module nodenext --allowImportingTsExtensions";
  const parameters = [compiler, ...options.split(" "), "--types", "node", join(folder, "program.ts")];
  const compiled = await run(process.execPath, parameters, { cwd: folder }).catch((error) => error);
  expect(compiled.stdout).toBe("");
  const origin = await app().listen({ port: 0 });
  const { stdout } = await run(process.execPath, [join(folder, "program.ts"), origin, apiKey]);
  expect(JSON.parse(stdout)).toEqual({
    state: "pending",
    isDelayed: true,
    messages: [],
    removed: 204,
    code: "unknown_job",
  });
});
