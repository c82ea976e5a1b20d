import { type Kysely, type Selectable, sql } from "kysely";
import type { AgentApprovalsTable, Tables } from "./tables.ts";

export const agentApprovalStates = ["pending", "approved", "rejected"] as const;
export type AgentApprovalState = (typeof agentApprovalStates)[number];

/** A job that an agent wants to be added, and what a person says to it. */
export interface AgentApproval {
  readonly id: string;
  /** Where it stands in the list: later ones have a higher one. */
  readonly position: string;
  readonly runId: string;
  readonly workspaceId: string | undefined;
  readonly queue: string;
  readonly action: string;
  /** The data of the job as JSON text. */
  readonly data: string;
  /** Why, in the agent's words. */
  readonly reason: string;
  readonly state: AgentApprovalState;
  readonly decidedBy: string | undefined;
  readonly decidedAt: Date | undefined;
  /** The job, once it was added. */
  readonly jobId: string | undefined;
  readonly createdAt: Date;
}

export type NewAgentApproval = Pick<
  AgentApproval,
  "id" | "runId" | "workspaceId" | "queue" | "action" | "data" | "reason"
>;

/** Asks for a person's approval. One that was asked for before stays as it is. */
export async function requestAgentApproval(
  database: Kysely<Tables>,
  { id, runId, workspaceId, queue, action, data, reason }: NewAgentApproval,
): Promise<void> {
  await database
    .insertInto("agent_approvals")
    .values({
      id,
      run_id: runId,
      workspace_id: workspaceId ?? null,
      queue,
      action,
      data,
      // PostgreSQL's text holds every sign but this one; in the JSON text of the data it is written out.
      reason: reason.replaceAll("\0", ""),
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

export async function findAgentApproval(database: Kysely<Tables>, id: string): Promise<AgentApproval | undefined> {
  const row = await database.selectFrom("agent_approvals").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toApproval(row);
}

/** Newest first, those before `before` alone; of one workspace, run and state, or of all. */
export async function listAgentApprovals(
  database: Kysely<Tables>,
  {
    workspaceId,
    runId,
    state,
    before,
    limit,
  }: {
    workspaceId?: string | undefined;
    runId?: string | undefined;
    state?: AgentApprovalState | undefined;
    before?: string | undefined;
    limit: number;
  },
): Promise<AgentApproval[]> {
  const rows = await database
    .selectFrom("agent_approvals")
    .selectAll()
    .$if(workspaceId !== undefined, (query) => query.where("workspace_id", "=", workspaceId ?? ""))
    .$if(runId !== undefined, (query) => query.where("run_id", "=", runId ?? ""))
    .$if(state !== undefined, (query) => query.where("state", "=", state ?? ""))
    .$if(before !== undefined, (query) => query.where("position", "<", before ?? ""))
    .orderBy("position", "desc")
    .limit(limit)
    .execute();
  return rows.map(toApproval);
}

/**
 * Keeps a person's decision. Of several the first one stands.
 *
 * @returns the approval as it stands then; undefined where there is none
 */
export async function decideAgentApproval(
  database: Kysely<Tables>,
  id: string,
  { state, decidedBy }: { state: Exclude<AgentApprovalState, "pending">; decidedBy?: string | undefined },
): Promise<AgentApproval | undefined> {
  await database
    .updateTable("agent_approvals")
    .set({ state, decided_by: decidedBy ?? null, decided_at: sql`now()` })
    .where("id", "=", id)
    .where("state", "=", "pending")
    .execute();
  return findAgentApproval(database, id);
}

/** Notes the job that was added for an approval. */
export async function recordAgentApprovalJob(database: Kysely<Tables>, id: string, jobId: string): Promise<void> {
  await database.updateTable("agent_approvals").set({ job_id: jobId }).where("id", "=", id).execute();
}

function toApproval(row: Selectable<AgentApprovalsTable>): AgentApproval {
  return {
    id: row.id,
    position: row.position,
    runId: row.run_id,
    workspaceId: row.workspace_id ?? undefined,
    queue: row.queue,
    action: row.action,
    data: row.data,
    reason: row.reason,
    // A newer process may have written a state that this one does not know: nothing is added for it.
    state: row.state === "approved" || row.state === "pending" ? row.state : "rejected",
    decidedBy: row.decided_by ?? undefined,
    decidedAt: row.decided_at ?? undefined,
    jobId: row.job_id ?? undefined,
    createdAt: row.created_at,
  };
}
