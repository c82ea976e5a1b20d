import { createApiKey, type Role } from "@millrace/access";
import { openAgentRun, requestAgentApproval } from "@millrace/database";
import { useDatabase } from "@millrace/database/testing";
import { cancelJob } from "@millrace/job-admin";
import { addSchedule } from "@millrace/schedules";
import { contracts, emailContract, emailQueue, enqueue, type QueueContract, queueNames } from "@millrace/worker-config";
import type { InjectOptions } from "fastify";
import { expect, test } from "vitest";
import { putFailed } from "../../../../packages/job-admin/test/failed-jobs.ts";
import { listRoutes, mail, useTestApp } from "../../test/test-app.ts";
import { createEndpoint, createResendable } from "../../test/webhook-records.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));

const roles: Role[] = ["viewer", "producer", "operator", "admin"];
const anyone = ["viewer", "producer", "operator", "admin"];
const lookers = ["viewer", "operator", "admin"];
const producers = ["producer", "operator", "admin"];
const operators = ["operator", "admin"];
const admins = ["admin"];

/** What a key of one workspace may ask for there: a request about something of the given workspace. None: nothing. */
type InWorkspace = ((workspaceId: string) => Promise<Asked>) | "open";
/** `isNamed`: the request itself names the workspace, by default where it has a body. Else the record does, and another one's is unknown. */
type Asked = { readonly url?: string; readonly payload?: object; readonly isNamed?: boolean };
/** Who may use a route; `public`: without a key. */
type Row = [who: string[] | "public", inWorkspace?: InWorkspace];

const job = (suffix: string) => async (workspaceId: string) => {
  const { jobId } = await enqueue(emailContract, "sendEmail", { ...mail, workspaceId }, { delayMs: 3_600_000 });
  return { url: `/jobs/email/${jobId}${suffix}` };
};
const deadLetter = (prefix: string, suffix: string) => async (workspaceId: string) => {
  const jobId = crypto.randomUUID();
  await putFailed(emailQueue, [
    { jobId, fields: { data: JSON.stringify({ type: "sendEmail", data: { ...mail, workspaceId } }) } },
  ]);
  return { url: `${prefix}/email/${jobId}${suffix}` };
};
/** One that nobody has to wait for. */
const endedJob = (suffix: string) => async (workspaceId: string) => {
  const { jobId } = await enqueue(emailContract, "sendEmail", { ...mail, workspaceId });
  await cancelJob("email", jobId);
  return { url: `/jobs/email/${jobId}${suffix}` };
};
const endpoint =
  (suffix = "", payload?: object) =>
  async (workspaceId: string) => ({
    url: `/webhooks/endpoints/${await createEndpoint(database(), workspaceId)}${suffix}`,
    ...(payload && { payload, isNamed: false }),
  });
const schedule =
  (suffix = "") =>
  async (workspaceId: string) => ({ url: `/schedules/${await createSchedule(workspaceId)}${suffix}` });
const agentRun =
  (suffix = "") =>
  async (workspaceId: string) => {
    const jobId = crypto.randomUUID();
    await openAgentRun(database(), { id: jobId, queue: "aiAgent", jobId, action: "runAgent", workspaceId });
    return { url: `/agent/runs/aiAgent/${jobId}${suffix}` };
  };
const approval =
  (suffix = "") =>
  async (workspaceId: string) => ({ url: `/agent/approvals/${await createApproval(workspaceId)}${suffix}` });
const list = (path: string) => async (workspaceId: string) => ({
  url: `${path}?workspaceId=${workspaceId}`,
  isNamed: true,
});
const hook = { url: "https://example.com/hooks", events: ["*"] };
const daily = { cron: "0 9 * * *", timeZone: "UTC", queue: "email", action: "sendEmail" };

const table: Record<string, Row> = {
  "GET /": ["public"],
  "GET /livez": ["public"],
  "GET /readyz": ["public"],
  "GET /login": ["public"],
  "POST /login": ["public"],
  "POST /logout": ["public"],
  "GET /dashboard": ["public"],
  "GET /metrics": [lookers],
  "GET /docs": [anyone, "open"],
  "GET /docs/": [anyone, "open"],
  "GET /docs/js/scalar.js": [anyone, "open"],
  "GET /openapi.json": [anyone, "open"],
  "GET /examples": [anyone, "open"],
  "POST /jobs/x/x": [producers, "open"],
  "GET /jobs": [lookers, list("/jobs")],
  "GET /jobs/x/x": [anyone, job("")],
  "GET /jobs/x/x/events": [anyone, endedJob("/events")],
  "POST /jobs/x/x/cancel": [operators, job("/cancel")],
  "POST /schedules": [
    operators,
    async (workspaceId) => ({ payload: { ...daily, workspaceId, data: { ...mail, workspaceId } } }),
  ],
  "POST /schedules/preview": [anyone, "open"],
  "GET /schedules": [lookers, list("/schedules")],
  "GET /schedules/x": [lookers, schedule()],
  "PUT /schedules/x": [
    operators,
    async (workspaceId) => ({
      ...(await schedule()(workspaceId)),
      payload: { ...daily, workspaceId: "ws-1", data: { ...mail, workspaceId: "ws-1" } },
      isNamed: false,
    }),
  ],
  "DELETE /schedules/x": [operators, schedule()],
  "POST /schedules/x/pause": [operators, schedule("/pause")],
  "POST /schedules/x/resume": [operators, schedule("/resume")],
  "POST /schedules/x/run": [operators, schedule("/run")],
  "POST /webhooks/endpoints": [operators, async (workspaceId) => ({ payload: { ...hook, workspaceId } })],
  "GET /webhooks/endpoints": [lookers, list("/webhooks/endpoints")],
  "GET /webhooks/endpoints/x": [lookers, endpoint()],
  "PATCH /webhooks/endpoints/x": [operators, endpoint("", { description: "changed" })],
  "DELETE /webhooks/endpoints/x": [operators, endpoint()],
  "POST /webhooks/endpoints/x/rotate-secret": [operators, endpoint("/rotate-secret")],
  "POST /webhooks/endpoints/x/pause": [operators, endpoint("/pause")],
  "POST /webhooks/endpoints/x/resume": [operators, endpoint("/resume")],
  "POST /webhooks/endpoints/x/test": [operators, endpoint("/test")],
  "GET /webhooks/endpoints/x/deliveries": [lookers, endpoint("/deliveries")],
  "POST /webhooks/deliveries/x/resend": [
    operators,
    async (workspaceId) => ({
      url: `/webhooks/deliveries/${await createResendable(database(), workspaceId)}/resend`,
    }),
  ],
  "GET /agent/runs": [lookers, list("/agent/runs")],
  "GET /agent/runs/x/x": [lookers, agentRun()],
  "GET /agent/runs/x/x/messages": [operators, agentRun("/messages")],
  "GET /agent/approvals": [operators, list("/agent/approvals")],
  "GET /agent/approvals/x": [operators, approval()],
  "POST /agent/approvals/x/approve": [operators, approval("/approve")],
  "POST /agent/approvals/x/reject": [operators, approval("/reject")],
  "POST /files": [producers],
  "GET /files/x": [anyone],
  "DELETE /files/x": [producers],
  "GET /email/templates": [lookers],
  "GET /email/templates/x": [lookers],
  "PUT /email/templates/x": [operators],
  "DELETE /email/templates/x": [operators],
  "GET /email/suppressions": [lookers],
  "PUT /email/suppressions": [operators],
  "DELETE /email/suppressions": [operators],
  "POST /email/digest-items": [
    producers,
    async (workspaceId) => ({ payload: { workspaceId, recipient: "ada@example.com", text: "Hello" } }),
  ],
  "POST /keys": [admins],
  "GET /keys": [admins],
  "DELETE /keys/x": [admins],
  "GET /audit": [operators],
  "GET /jobs/stats": [lookers],
  "GET /jobs/failed": [lookers],
  "GET /jobs/x/x/details": [lookers, job("/details")],
  "POST /jobs/x/x/retry": [operators, deadLetter("/jobs", "/retry")],
  "POST /jobs/x/x/promote": [operators, job("/promote")],
  "DELETE /jobs/x/x": [operators, job("")],
  "POST /queues/x/pause": [operators],
  "POST /queues/x/resume": [operators],
  "POST /queues/x/drain": [admins],
  "GET /workers": [lookers],
  "GET /dead-letters": [lookers],
  "POST /dead-letters/replay": [operators],
  "POST /dead-letters/purge": [operators],
  "POST /dead-letters/x/x/replay": [operators, deadLetter("/dead-letters", "/replay")],
  "GET /quarantine": [operators],
  "GET /quarantine/x/x": [operators],
  "DELETE /quarantine/x/x": [operators],
  "POST /owners/x/block": [operators],
  "POST /owners/x/unblock": [operators],
  ...Object.fromEntries(Object.values<QueueContract>(contracts).flatMap(produceRows)),
};

function produceRows({ name, actions, settings }: QueueContract): [string, Row][] {
  return Object.entries(actions).flatMap(([action, { workspaceId: ofWorkspace, example }]): [string, Row][] => {
    // An action whose data names no workspace is not for a workspace's key, nor is what the house does by itself.
    const item = (workspaceId: string) => ({
      data: { ...Object(example), workspaceId },
      options: { delayMs: 3_600_000 },
    });
    const rowFor = (payloadOf: (workspaceId: string) => object): Row => {
      if (settings.isHousekeeping) return [operators];
      return ofWorkspace ? [producers, async (workspaceId) => ({ payload: payloadOf(workspaceId) })] : [producers];
    };
    return [
      [`POST /jobs/${name}/${action}`, rowFor(item)],
      [`POST /jobs/${name}/${action}/bulk`, rowFor((workspaceId) => ({ items: [item(workspaceId)] }))],
    ];
  });
}

function rowOf({ method, url }: { method: string; url: string }): Row | undefined {
  // Every route of Bull Board is for operators, whatever it brings.
  if (/^\/admin\/queues(\/|$)/.test(url)) return [operators];
  return table[`${method === "HEAD" ? "GET" : method} ${url}`];
}

async function createSchedule(workspaceId: string): Promise<string> {
  const id = crypto.randomUUID();
  const target = { queue: queueNames.enum.email, action: "sendEmail", data: { ...mail, workspaceId } };
  const policies = { overlap: "queue", missed: "once" } as const;
  await addSchedule({ id, workspaceId, cadence: { everyMs: 3_600_000 }, ...target, ...policies }, 1_000);
  return id;
}

async function createApproval(workspaceId: string): Promise<string> {
  const id = crypto.randomUUID();
  await openAgentRun(database(), { id, queue: "aiAgent", jobId: id, action: "runAgent", workspaceId });
  const asked = { queue: "email", action: "sendEmail", data: JSON.stringify({ ...mail, workspaceId }), reason: "" };
  await requestAgentApproval(database(), { id, runId: id, workspaceId, ...asked });
  return id;
}

/** What was answered: the status, and the code of a problem. */
async function ask(method: string, url: string, key?: string, payload?: object): Promise<string> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  // What the router lists is what it takes; the type of inject knows the usual methods only.
  const request = { method: method as NonNullable<InjectOptions["method"]>, url, headers, ...(payload && { payload }) };
  const { statusCode, body } = await app().inject(request);
  const [, code] = /"code":"(\w+)"/.exec(statusCode < 400 ? "" : body) ?? [];
  return code === undefined ? String(statusCode) : `${statusCode} ${code}`;
}

const keyOf = async (role: Role, workspaceId?: string) => (await createApiKey({ name: role, role, workspaceId })).key;

/** Ten requests at a time: they spend most of their time waiting for Redis and the database. */
async function inTens<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  for (let next = 0; next < items.length; next += 10) await Promise.all(items.slice(next, next + 10).map(run));
}

/** Whoever is let in gets at what `x` stands for: it is not there, or the request is none; an answer that is the same for all of them. */
const reached =
  /^(200|204|301|303|308|400( \w+)?|404( (unknown_\w+|not_suppressed|not_quarantined|file_missing))?|405 read_only)$/;

test("every route answers each role, of all workspaces, of its own and of another, exactly as the table says, and nobody else", {
  timeout: 60_000,
}, async () => {
  const routes = listRoutes(app());
  expect(routes.filter((route) => !rowOf(route))).toEqual([]);
  const keys = new Map<string, string>();
  for (const role of roles) keys.set(role, await keyOf(role));
  for (const role of roles) if (role !== "admin") keys.set(`${role} of ws-1`, await keyOf(role, "ws-1"));
  const wrong: string[] = [];
  const check = (asked: string, who: string, answer: string, expected: RegExp | string) => {
    // What answers HEAD has no body, and so no code.
    const wanted = asked.startsWith("HEAD ") && typeof expected === "string" ? expected.slice(0, 3) : expected;
    const isRight = typeof wanted === "string" ? answer === wanted : wanted.test(answer);
    if (!isRight) wrong.push(`${asked} as ${who}: expected ${wanted}, got ${answer}`);
  };
  await inTens(routes, async ({ method, url }) => {
    const [who, inWorkspace] = rowOf({ method, url }) ?? [[]];
    const asked = `${method} ${url}`;
    if (who === "public") return check(asked, "nobody", await ask(method, url), reached);
    check(asked, "nobody", await ask(method, url), "401 unauthorized");
    let first: string | undefined;
    for (const role of roles) {
      const answer = await ask(method, url, keys.get(role));
      const isAllowed = who.includes(role);
      if (isAllowed) first ??= answer;
      check(asked, role, answer, isAllowed ? reached : "403 forbidden");
      if (isAllowed) check(asked, role, answer, first ?? "");
    }
    for (const role of roles) {
      const key = keys.get(`${role} of ws-1`);
      if (key === undefined) continue;
      const as = `${role} of ws-1`;
      if (!who.includes(role)) check(asked, as, await ask(method, url, key), "403 forbidden");
      else if (inWorkspace === "open") check(asked, as, await ask(method, url, key), first ?? "");
      else if (!inWorkspace) check(asked, as, await ask(method, url, key), "403 other_workspace");
      else {
        const own = await inWorkspace("ws-1");
        check(asked, as, await ask(method, own.url ?? url, key, own.payload), /^20[0124]$/);
        const others = await inWorkspace("ws-2");
        const isNamed = others.isNamed ?? others.payload !== undefined;
        const refusal = isNamed ? "403 other_workspace" : /^404( unknown_\w+)?$/;
        check(`${asked}, which is ws-2's,`, as, await ask(method, others.url ?? url, key, others.payload), refusal);
      }
    }
  });
  expect(wrong).toEqual([]);
});
