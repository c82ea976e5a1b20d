import { createHash } from "node:crypto";
import { type Database, listAgentApprovals, requestAgentApproval, whenAvailable } from "@millrace/database";
import { contracts, InvalidJobError, prepareEnqueue, type QueueContract, queueNames } from "@millrace/worker-config";
import { PermanentError } from "@millrace/worker-host";
import { z } from "zod";
import { type AgentTool, defineTool, ToolRefusal } from "./agent-tool.ts";
import { isOfWorkspace } from "./is-of-workspace.ts";

/** Of one run, at a time: a person has to look at each. */
const mostPending = 20;

interface RequestableJob {
  readonly contract: QueueContract;
  readonly action: string;
}

/**
 * Lets a model ask for a job, which a person approves before it is added (`/agent/approvals`). Its data is checked now, so that the model can
 * mend it, and it must belong to the workspace of the run. Of one run no more than 20 may wait for a decision.
 *
 * @param names as queue/action: those that the run may ask for
 * @throws PermanentError `unknown_job` where a name is none
 */
export function createRequestJob(database: Database, names: readonly [string, ...string[]]): AgentTool {
  const jobs = new Map(names.map((name) => [name, requestableJob(name)]));
  const shapes = [...jobs].map(
    ([name, { contract, action }]) => `${name} with data by this JSON Schema: ${describe(contract, action)}`,
  );
  return defineTool({
    name: "requestJob",
    description: `Asks a person to approve a background job. It runs only if and when the person approves, so do not wait for it. The jobs: ${shapes.join("; ")}`,
    input: z.object({
      job: z.enum(names),
      data: z.record(z.string(), z.json()),
      reason: z.string().min(1).max(1_000).describe("For the person who decides: why this job."),
    }),
    // Its id is made of the call.
    isRepeatable: true,
    run: async ({ job: name, data, reason }, { runId, callKey, workspaceId }) => {
      // The enum has no other names.
      const { contract, action } = jobs.get(name) ?? requestableJob(name);
      checkData(contract, action, data, workspaceId);
      const id = approvalId(callKey);
      const request = { id, runId, workspaceId, queue: contract.name, action, data: JSON.stringify(data), reason };
      const pending = await whenAvailable(() =>
        listAgentApprovals(database, { runId, state: "pending", limit: mostPending }),
      );
      // A call that is made again has asked already.
      if (pending.length >= mostPending && !pending.some((asked) => asked.id === id)) {
        throw new ToolRefusal(`${mostPending} jobs of this run wait for a person's decision already. Ask for no more.`);
      }
      await whenAvailable(() => requestAgentApproval(database, request));
      return { approvalId: id, state: "pending", note: "A person decides. The job runs only once it is approved." };
    },
  });
}

/** The same for the same call, so that it is asked for once. */
export function approvalId(callKey: string): string {
  return `apr_${createHash("sha256").update(callKey).digest("hex").slice(0, 32)}`;
}

function requestableJob(name: string): RequestableJob {
  const [queue, action = ""] = name.split("/");
  const known = queueNames.safeParse(queue);
  const contract: QueueContract | undefined = known.success ? contracts[known.data] : undefined;
  if (contract?.actions[action] && !contract.settings.isHousekeeping) return { contract, action };
  throw new PermanentError(
    `requestableJobs: expected queue/action of a job that serves tenants, got ${JSON.stringify(name)}.`,
    { code: "unknown_job" },
  );
}

function describe(contract: QueueContract, action: string): string {
  const data = contract.actions[action]?.data ?? z.unknown();
  return JSON.stringify(z.toJSONSchema(data, { io: "input", unrepresentable: "any" }));
}

function checkData(contract: QueueContract, action: string, data: object, workspaceId: string | undefined): void {
  try {
    prepareEnqueue(contract, action, data, {}, Date.now());
  } catch (error) {
    if (!(error instanceof InvalidJobError)) throw error;
    throw new ToolRefusal(error.message);
  }
  if (isOfWorkspace(contract, action, data, workspaceId)) return;
  throw new ToolRefusal(
    workspaceId === undefined
      ? "The data must name no workspace."
      : `The data must name the workspace ${JSON.stringify(workspaceId)}.`,
  );
}
