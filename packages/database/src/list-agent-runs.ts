import { type Kysely, sql } from "kysely";
import type { AgentRunKey } from "./agent-runs.ts";
import type { Tables } from "./tables.ts";

/** A run, and what it has used so far over all attempts. */
export interface AgentRunSummary extends AgentRunKey {
  readonly createdAt: Date;
  readonly steps: number;
  /** Those that were begun. */
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/**
 * Newest first, of one workspace or of all.
 *
 * @param options.before the id of the last run of the page before. Where that has been removed since, so has what is older
 */
export async function listAgentRuns(
  database: Kysely<Tables>,
  {
    workspaceId,
    before,
    limit,
  }: { readonly workspaceId?: string | undefined; readonly before?: string | undefined; readonly limit: number },
): Promise<AgentRunSummary[]> {
  return selectRuns(database)
    .$if(workspaceId !== undefined, (query) => query.where("run.workspace_id", "=", workspaceId ?? ""))
    .$if(before !== undefined, (query) =>
      query.where(
        sql<boolean>`(run.created_at, run.id) < (select created_at, id from agent_runs where id = ${before})`,
      ),
    )
    .orderBy("run.created_at", "desc")
    .orderBy("run.id", "desc")
    .limit(limit)
    .execute()
    .then((rows) => rows.map(toSummary));
}

/** One run; undefined where there is none (any more). */
export async function findAgentRun(database: Kysely<Tables>, id: string): Promise<AgentRunSummary | undefined> {
  const row = await selectRuns(database).where("run.id", "=", id).executeTakeFirst();
  return row && toSummary(row);
}

/** The newest run under a job's id, for when the job's own record is gone. */
export async function findNewestAgentRun(
  database: Kysely<Tables>,
  { queue, jobId }: Pick<AgentRunKey, "queue" | "jobId">,
): Promise<AgentRunSummary | undefined> {
  const row = await selectRuns(database)
    .where("run.queue", "=", queue)
    .where("run.job_id", "=", jobId)
    .orderBy("run.created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toSummary(row);
}

function selectRuns(database: Kysely<Tables>) {
  return database
    .selectFrom("agent_runs as run")
    .leftJoinLateral(
      (from) =>
        from
          .selectFrom("agent_steps")
          .whereRef("run_id", "=", "run.id")
          // PostgreSQL's sum of integers is a bigint, which comes as text.
          .select([
            sql<number>`count(*)::int`.as("steps"),
            sql<number>`coalesce(sum(input_tokens), 0)::float8`.as("input_tokens"),
            sql<number>`coalesce(sum(output_tokens), 0)::float8`.as("output_tokens"),
            sql<number>`coalesce(sum(cost_usd), 0)::float8`.as("cost_usd"),
          ])
          .as("used"),
      (join) => join.onTrue(),
    )
    .selectAll(["run", "used"])
    .select(sql<number>`(select count(*)::int from agent_tool_calls where run_id = run.id)`.as("tool_calls"));
}

type Row = Awaited<ReturnType<ReturnType<typeof selectRuns>["execute"]>>[number];

function toSummary(row: Row): AgentRunSummary {
  return {
    id: row.id,
    queue: row.queue,
    jobId: row.job_id,
    action: row.action,
    workspaceId: row.workspace_id ?? undefined,
    createdAt: row.created_at,
    steps: row.steps ?? 0,
    toolCalls: row.tool_calls,
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    costUsd: row.cost_usd ?? 0,
  };
}
