import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createApiKey } from "@millrace/access";
import { contracts, type QueueContract } from "@millrace/worker-config";
import { expect, test } from "vitest";
import { apiKey, basic, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

const exampleOf = new Map<string, unknown>(
  Object.values<QueueContract>(contracts).flatMap(({ name, actions }) =>
    Object.entries(actions).flatMap(([action, { example }]) =>
      example === undefined ? [] : [[`${name}/${action}`, example] as const],
    ),
  ),
);
const actions = Object.values<QueueContract>(contracts).flatMap(({ name, actions }) =>
  Object.keys(actions).map((action) => `${name}/${action}`),
);

async function readCommands(headers: Record<string, string> = {}): Promise<string[]> {
  const response = await app().inject({ url: "/examples", headers: { ...basic, ...headers } });
  expect(response.statusCode).toBe(200);
  const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
  return [...response.body.matchAll(/<pre>(.*?)<\/pre>/gs)].map(([, text = ""]) =>
    text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity),
  );
}

test("for an admin the page has one command for each action of every queue, with the caller's own key", async () => {
  const without = actions.filter((name) => !exampleOf.has(name));
  expect(without, "expected an `example` in the contract of each action").toEqual([]);
  const commands = await readCommands();
  expect(commands.map((command) => /\/jobs\/(\S+)/.exec(command)?.[1])).toEqual(actions);
  for (const command of commands) expect(command).toContain(`Bearer ${apiKey}`);
});

test.each([
  { role: "viewer" },
  { role: "producer" },
  { role: "operator" },
  { role: "viewer", workspaceId: "ws-1" },
  { role: "producer", workspaceId: "ws-1" },
] as const)("the page has the commands that a key may run, and no other (%o)", async (asked) => {
  const { key } = await createApiKey({ name: "somebody", ...asked });
  const headers = { authorization: `Bearer ${key}` };
  const ownWorkspace = "workspaceId" in asked ? { workspaceId: asked.workspaceId } : {};
  const allowed: string[] = [];
  for (const name of actions) {
    const payload = { data: { ...Object(exampleOf.get(name)), ...ownWorkspace } };
    const { statusCode } = await app().inject({ method: "POST", url: `/jobs/${name}`, headers, payload });
    if (statusCode !== 403) allowed.push(name);
  }
  const commands = await readCommands(headers);
  expect(commands.map((command) => /\/jobs\/(\S+)/.exec(command)?.[1])).toEqual(allowed);
  expect(allowed.length > 0).toBe(asked.role !== "viewer");
  const page = await app().inject({ url: "/examples", headers });
  expect(page.body).toContain(asked.role === "operator" ? "of an operator" : `of a ${asked.role}`);
  if (asked.role === "viewer") expect(page.body).toMatch(/that takes one of a producer or .*\ban admin\./);
  if ("workspaceId" in asked) for (const command of commands) expect(command).toContain('"workspaceId":"ws-1"');
});

test("each command is taken when it is pasted into a shell", async () => {
  const origin = await app().listen({ host: "127.0.0.1", port: 0 });
  for (const command of await readCommands({ host: new URL(origin).host })) {
    const { stdout } = await promisify(execFile)("sh", ["-c", `${command} -s`]);
    expect(JSON.parse(stdout)).toMatchObject({ status: "created", jobId: expect.any(String) });
  }
});

test("a host that is none reaches neither the page nor the shell", async () => {
  for (const host of ["x'; rm -rf /; '", "<script>alert(1)</script>"]) {
    for (const command of await readCommands({ host }))
      expect(command).toContain("curl -X POST http://localhost/jobs/");
  }
});
