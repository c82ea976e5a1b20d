import { exec } from "node:child_process";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { type Command, isAlive } from "./test-support/command.ts";
import { startDev } from "./test-support/dev-command.ts";
import { startHoldingMailServer } from "./test-support/holding-mail-server.ts";

const shell = promisify(exec);
const started: Command[] = [];

async function dev(env?: Record<string, string>): Promise<Command> {
  const command = await startDev(env);
  started.push(command);
  return command;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((command) => command.remove()));
});

async function pasteCurl(command: Command): Promise<{ jobId: string }> {
  const [curl] = await command.untilPrinted(/^curl .*$/m);
  const { stdout } = await shell(`${curl} --silent --show-error`);
  return JSON.parse(stdout);
}

async function readJson(url: string, headers: Record<string, string> = {}): Promise<object> {
  const json: unknown = await (await fetch(url, { headers })).json();
  if (typeof json !== "object" || json === null) throw new Error(`${url}: expected an object, got ${typeof json}`);
  return json;
}

/** The commands of the page, as a browser shows them to whoever copies one. */
async function readExamples(url: string, authorization: string): Promise<string[]> {
  const page = await (await fetch(url, { headers: { authorization } })).text();
  const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
  return [...page.matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, text = ""]) =>
    text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity),
  );
}

test("the pasted curl sends a mail, and every command of the page of examples ends in success", async () => {
  // Nothing is configured, so that every service is the one that the command brings.
  const command = await dev({ DATABASE_URL: "" });
  await pasteCurl(command);
  const [, inbox] = await command.untilPrinted(/^ +Inbox +(\S+)/m);
  const [, api] = await command.untilPrinted(/^ +API +(\S+)/m);
  const [, key] = await command.untilPrinted(/^ +API key +(\S+)/m);
  await vi.waitFor(async () => {
    expect(await readJson(`${inbox}/messages.json`)).toMatchObject([{ to: ["ada@example.com"] }]);
  }, 10_000);
  expect(command.output()).toMatch(/Redis +\S.*(embedded|redis-server|valkey-server)/);
  expect(command.output()).toMatch(/PostgreSQL +\S.*embedded/);

  const authorization = `Bearer ${key}`;
  const upload = { method: "POST", headers: { authorization }, body: "a file that a job may refer to" };
  expect((await fetch(`${api}/files?name=a.txt`, upload)).status).toBe(201);
  const examples = await readExamples(`${api}/examples`, authorization);
  expect(examples.length).toBeGreaterThan(20);
  const run = async (example: string) => {
    const { stdout } = await shell(`${example} --silent --show-error`);
    const { queue, action, jobId } = JSON.parse(stdout);
    return vi.waitFor(async () => {
      const job = { action, ...(await readJson(`${api}/jobs/${queue}/${jobId}`, { authorization })) };
      expect(job).toMatchObject({ action, status: "success" });
      return JSON.stringify(job);
    }, 30_000);
  };
  const said = (await Promise.all(examples.map(run))).join();
  // The example of aiAgent asks for a mail, and says how a person approves it.
  const [approve] = /\/agent\/approvals\/\w+\/approve/.exec(said) ?? [];
  expect((await fetch(`${api}${approve}`, { method: "POST", headers: { authorization } })).status).toBe(200);
  await vi.waitFor(async () => {
    expect(JSON.stringify(await readJson(`${inbox}/messages.json`))).toContain("From the demo model");
  }, 10_000);
  // Of the examples of webhook: one delivered, one dispatched.
  const [, receiver] = await command.untilPrinted(/^ +Webhooks +(\S+)/m);
  await vi.waitFor(async () => {
    const webhooks = await readJson(`${receiver}/webhooks.json`);
    expect(webhooks).toMatchObject([{ signature: "verified" }, { signature: "verified" }]);
  }, 10_000);
  command.process.kill("SIGINT");
  expect(await command.ended).toBe(0);
}, 120_000);

test("SIGTERM during a job lets it finish, and every process is gone", async () => {
  const mailServer = await startHoldingMailServer();
  const command = await dev({ SMTP_URL: mailServer.smtpUrl });
  await pasteCurl(command);
  await mailServer.mailSent;
  const processes = await command.processes();
  expect(processes.length).toBeGreaterThan(4);
  command.process.kill("SIGTERM");
  await command.untilPrinted(/\[email\].*shutting down/);
  mailServer.accept();
  expect(await command.ended).toBe(0);
  expect(command.output()).toMatch(/job completed/);
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), 5_000);
  mailServer.close();
});

test("a second signal ends everything at once, a job or not", async () => {
  const mailServer = await startHoldingMailServer();
  const command = await dev({ SMTP_URL: mailServer.smtpUrl });
  await pasteCurl(command);
  await mailServer.mailSent;
  const processes = await command.processes();
  command.process.kill("SIGINT");
  await command.untilPrinted(/\[email\].*shutting down/);
  // One that comes too soon after the first counts as the same key: whoever means it presses again.
  const again = async () => {
    command.process.kill("SIGTERM");
    expect(processes.filter(isAlive)).toEqual([]);
  };
  await vi.waitFor(again, { timeout: 15_000, interval: 500 });
  await command.ended;
  mailServer.close();
});

test("a wrong setting stops the start with a sentence that names it", async () => {
  const refusals = Object.entries({
    API_PORT: "many",
    EMAIL_WORKER_CONCURRENCY: "0",
    SMTP_URL: "http://127.0.0.1",
    DEV_REDIS: "sqlite",
    REDIS_URL: "redis://127.0.0.1:1",
  }).map(async ([name, value]) => {
    const command = await dev({ [name]: value });
    expect(await command.ended, name).toBe(1);
    expect(command.output()).toMatch(new RegExp(`${name} (is|of|is not)`));
    expect(command.output()).not.toContain("    at ");
  });
  await Promise.all(refusals);
});
