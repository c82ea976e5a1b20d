import type { Role } from "@millrace/access";
import type { Database } from "@millrace/database";
import { contracts, type QueueContract } from "@millrace/worker-config";
import { mail } from "./test-app.ts";
import { createResendable } from "./webhook-records.ts";
import {
  type Asked,
  agentRun,
  approval,
  deadLetter,
  endedJob,
  endpoint,
  job,
  list,
  schedule,
} from "./workspace-requests.ts";

const anyone: Role[] = ["viewer", "producer", "operator", "admin"];
const lookers: Role[] = ["viewer", "operator", "admin"];
const producers: Role[] = ["producer", "operator", "admin"];
const operators: Role[] = ["operator", "admin"];
const admins: Role[] = ["admin"];

/** What a key of one workspace may ask for there: a request about something of the given workspace. None: nothing. */
type InWorkspace = ((workspaceId: string) => Promise<Asked>) | "open";
/** Who may use a route; `public`: without a key. */
type Row = [who: Role[] | "public", inWorkspace?: InWorkspace];

const hook = { url: "https://example.com/hooks", events: ["*"] };
const daily = { cron: "0 9 * * *", timeZone: "UTC", queue: "email", action: "sendEmail" };

/** Every route but the dashboard's, by method and address, each parameter as `x`. A route that does not stand here fails every-route.test.ts. */
export function routeTable(database: Database): Record<string, Row> {
  return {
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
    "GET /webhooks/endpoints/x": [lookers, endpoint(database)],
    "PATCH /webhooks/endpoints/x": [operators, endpoint(database, "", { description: "changed" })],
    "DELETE /webhooks/endpoints/x": [operators, endpoint(database)],
    "POST /webhooks/endpoints/x/rotate-secret": [operators, endpoint(database, "/rotate-secret")],
    "POST /webhooks/endpoints/x/pause": [operators, endpoint(database, "/pause")],
    "POST /webhooks/endpoints/x/resume": [operators, endpoint(database, "/resume")],
    "POST /webhooks/endpoints/x/test": [operators, endpoint(database, "/test")],
    "GET /webhooks/endpoints/x/deliveries": [lookers, endpoint(database, "/deliveries")],
    "POST /webhooks/deliveries/x/resend": [
      operators,
      async (workspaceId) => ({
        url: `/webhooks/deliveries/${await createResendable(database, workspaceId)}/resend`,
      }),
    ],
    "GET /agent/runs": [lookers, list("/agent/runs")],
    "GET /agent/runs/x/x": [lookers, agentRun(database)],
    "GET /agent/runs/x/x/messages": [operators, agentRun(database, "/messages")],
    "GET /agent/approvals": [operators, list("/agent/approvals")],
    "GET /agent/approvals/x": [operators, approval(database)],
    "POST /agent/approvals/x/approve": [operators, approval(database, "/approve")],
    "POST /agent/approvals/x/reject": [operators, approval(database, "/reject")],
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
}

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

/** Which row a route of the router is. */
export function rowOf(table: Record<string, Row>, { method, url }: { method: string; url: string }): Row | undefined {
  // Every route of Bull Board is for operators, whatever it brings.
  if (/^\/admin\/queues(\/|$)/.test(url)) return [operators];
  return table[`${method === "HEAD" ? "GET" : method} ${url}`];
}
