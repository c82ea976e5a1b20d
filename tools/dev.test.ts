import { exec } from "node:child_process";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type Command, isAlive } from "./test-support/command.ts";
import { startDev } from "./test-support/dev-command.ts";
import { startHoldingReceiver } from "./test-support/holding-receiver.ts";
import { root } from "./workers.ts";

const shell = promisify(exec);

// One for the whole file: to start all the programs takes longer than all that is asked of them.
let command: Command;
let api = "";
let inbox = "";
let authorization = "";

beforeAll(async () => {
  // Nothing is configured, so that every service is the one that the command brings.
  command = await startDev({ DATABASE_URL: "" });
  await command.untilPrinted(/^curl .*$/m);
  const shown = async (pattern: RegExp) => (await command.untilPrinted(pattern))[1] ?? "";
  api = await shown(/^ +API +(\S+)/m);
  inbox = await shown(/^ +Inbox +(\S+)/m);
  authorization = `Bearer ${await shown(/^ +API key +(\S+)/m)}`;
  // Longer than the command itself waits for its programs: when they do not come up, it says why.
}, 150_000);

afterAll(() => command.remove());

async function readJson(url: string, headers: Record<string, string> = {}): Promise<object> {
  const json: unknown = await (await fetch(url, { headers })).json();
  if (typeof json !== "object" || json === null) throw new Error(`${url}: expected an object, got ${typeof json}`);
  return json;
}

async function post<Answer>(path: string, body: object): Promise<Answer> {
  const headers = { authorization, "content-type": "application/json" };
  const response = await fetch(`${api}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  // What the route answers is its own tests'.
  return (await response.json()) as Answer;
}

/** The commands of the page, as a browser shows them to whoever copies one. */
async function readExamples(url: string): Promise<string[]> {
  const page = await (await fetch(url, { headers: { authorization } })).text();
  const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
  return [...page.matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, text = ""]) =>
    text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity),
  );
}

test("the pasted curl sends a mail, and the start says which services it brought", async () => {
  const [curl] = await command.untilPrinted(/^curl .*$/m);
  await shell(`${curl} --silent --show-error`);
  await vi.waitFor(async () => {
    expect(await readJson(`${inbox}/messages.json`)).toMatchObject([{ to: ["ada@example.com"] }]);
  }, 10_000);
  expect(command.output()).toMatch(/Redis +\S.*(embedded|redis-server|valkey-server)/);
  expect(command.output()).toMatch(/PostgreSQL +\S.*embedded/);
});

test("every command of the page of examples ends in success", async () => {
  const upload = { method: "POST", headers: { authorization }, body: "a file that a job may refer to" };
  expect((await fetch(`${api}/files?name=a.txt`, upload)).status).toBe(201);
  const examples = await readExamples(`${api}/examples`);
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
}, 60_000);

test("a change of one domain restarts its worker alone", async () => {
  const restarted = () => [...command.output().matchAll(/\[([a-z-]+)\] .*Restarting/g)].map(([, name]) => name);
  const readied = () => command.output().match(/\[email\].*worker ready/g)?.length ?? 0;
  const before = readied();
  const now = new Date();
  // A dev command that the developer has running restarts its worker as well: what is watched are the sources themselves.
  await utimes(join(root, "apps/worker/src/email/handlers.ts"), now, now);
  await vi.waitFor(() => expect(readied()).toBe(before + 1), 20_000);
  expect(restarted()).toEqual(["email"]);
});

// The last one, since it ends what the others use.
test("SIGTERM during a job lets it finish, and every process is gone", async () => {
  const receiver = await startHoldingReceiver();
  onTestFinished(receiver.close);
  const { id } = await post<{ id: string }>("/webhooks/endpoints", { url: receiver.url, events: ["held"] });
  const data = { endpointId: id, event: "held", eventId: "held", payload: {} };
  await post("/jobs/webhook/deliverWebhook", { data });
  await receiver.webhookSent;
  const processes = await command.processes();
  expect(processes.length).toBeGreaterThan(4);
  command.process.kill("SIGTERM");
  await command.untilPrinted(/\[webhook\].*shutting down/);
  receiver.accept();
  expect(await command.ended).toBe(0);
  expect(command.output().split("Stopping:").at(-1)).toMatch(/\[webhook\].*job completed/);
  await vi.waitFor(() => expect(processes.filter(isAlive)).toEqual([]), 5_000);
});

test("a wrong setting stops the start with a sentence for each, before anything else is started, and so does a Redis that is away", async () => {
  const wrong = { API_PORT: "many", EMAIL_WORKER_CONCURRENCY: "0", SMTP_URL: "http://127.0.0.1", DEV_REDIS: "sqlite" };
  const refusals = [wrong, { REDIS_URL: "redis://127.0.0.1:1" }].map(async (env) => {
    const refused = await startDev(env);
    onTestFinished(refused.remove);
    expect(await refused.ended).toBe(1);
    for (const name of Object.keys(env)) expect(refused.output()).toMatch(new RegExp(`${name} is`));
    expect(refused.output()).not.toContain("    at ");
    // Whether a Redis answers is known only once the services are started.
    if (env === wrong) expect(refused.output()).not.toContain("Starting the services");
  });
  await Promise.all(refusals);
});
