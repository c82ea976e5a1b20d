import { type Database, openAgentRun, requestAgentApproval } from "@millrace/database";
import { cancelJob } from "@millrace/job-admin";
import { addSchedule } from "@millrace/schedules";
import { emailContract, emailQueue, enqueue, queueNames } from "@millrace/worker-config";
import { putFailed } from "../../../packages/job-admin/test/failed-jobs.ts";
import { mail } from "./test-app.ts";
import { createEndpoint } from "./webhook-records.ts";

/**
 * A request about something of a workspace. `isNamed`: the request itself names the workspace, by default where it has a body. Else the record
 * does, and another one's is unknown.
 */
export interface Asked {
  readonly url?: string;
  readonly payload?: object;
  readonly isNamed?: boolean;
}

/** A job that waits for its time. */
export const job = (suffix: string) => async (workspaceId: string) => {
  const { jobId } = await enqueue(emailContract, "sendEmail", { ...mail, workspaceId }, { delayMs: 3_600_000 });
  return { url: `/jobs/email/${jobId}${suffix}` };
};

/** A job that failed for good. */
export const deadLetter = (prefix: string, suffix: string) => async (workspaceId: string) => {
  const jobId = crypto.randomUUID();
  await putFailed(emailQueue, [
    { jobId, fields: { data: JSON.stringify({ type: "sendEmail", data: { ...mail, workspaceId } }) } },
  ]);
  return { url: `${prefix}/email/${jobId}${suffix}` };
};

/** One that nobody has to wait for. */
export const endedJob = (suffix: string) => async (workspaceId: string) => {
  const { jobId } = await enqueue(emailContract, "sendEmail", { ...mail, workspaceId });
  await cancelJob("email", jobId);
  return { url: `/jobs/email/${jobId}${suffix}` };
};

/** An endpoint for webhooks. */
export const endpoint =
  (database: Database, suffix = "", payload?: object) =>
  async (workspaceId: string) => ({
    url: `/webhooks/endpoints/${await createEndpoint(database, workspaceId)}${suffix}`,
    ...(payload && { payload, isNamed: false }),
  });

/** A schedule. */
export const schedule =
  (suffix = "") =>
  async (workspaceId: string) => ({ url: `/schedules/${await createSchedule(workspaceId)}${suffix}` });

/** A run of a language model. */
export const agentRun =
  (database: Database, suffix = "") =>
  async (workspaceId: string) => {
    const jobId = crypto.randomUUID();
    await openAgentRun(database, { id: jobId, queue: "aiAgent", jobId, action: "runAgent", workspaceId });
    return { url: `/agent/runs/aiAgent/${jobId}${suffix}` };
  };

/** What an agent wants to have approved. */
export const approval =
  (database: Database, suffix = "") =>
  async (workspaceId: string) => ({ url: `/agent/approvals/${await createApproval(database, workspaceId)}${suffix}` });

/** A list, by the workspace that its query names. */
export const list = (path: string) => async (workspaceId: string) => ({
  url: `${path}?workspaceId=${workspaceId}`,
  isNamed: true,
});

async function createSchedule(workspaceId: string): Promise<string> {
  const id = crypto.randomUUID();
  const target = { queue: queueNames.enum.email, action: "sendEmail", data: { ...mail, workspaceId } };
  const policies = { overlap: "queue", missed: "once" } as const;
  await addSchedule({ id, workspaceId, cadence: { everyMs: 3_600_000 }, ...target, ...policies }, 1_000);
  return id;
}

async function createApproval(database: Database, workspaceId: string): Promise<string> {
  const id = crypto.randomUUID();
  await openAgentRun(database, { id, queue: "aiAgent", jobId: id, action: "runAgent", workspaceId });
  const asked = { queue: "email", action: "sendEmail", data: JSON.stringify({ ...mail, workspaceId }), reason: "" };
  await requestAgentApproval(database, { id, runId: id, workspaceId, ...asked });
  return id;
}
