import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables.ts";

/** Whose run it is: a job that was added anew under an old id is another one. */
export interface AgentRunKey {
  readonly id: string;
  readonly queue: string;
  readonly jobId: string;
  readonly action: string;
  readonly workspaceId: string | undefined;
}

/** One answer of the model, and what came of the tools that it asked for. */
export interface AgentStep {
  readonly step: number;
  /** JSON text. */
  readonly response: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly durationMs: number;
  readonly createdAt: Date;
  /** Those that were begun, in no order. */
  readonly toolCalls: readonly AgentToolCall[];
}

export interface AgentToolCall {
  /** Which of the calls that the step asks for, from 0 on. */
  readonly position: number;
  /** As the model called it: there need not be one of that name. */
  readonly tool: string;
  readonly begunAt: Date;
  /** JSON text; undefined while nobody knows whether the call is done. */
  readonly output: string | undefined;
  readonly durationMs: number | undefined;
}

interface ToolCallKey {
  readonly runId: string;
  readonly step: number;
  readonly position: number;
}

/** The id of the run of a job that was added at that time. */
export function agentRunId(job: { readonly queue: string; readonly jobId: string; readonly createdAt: Date }): string {
  return `${job.queue}/${job.jobId}/${job.createdAt.getTime()}`;
}

/**
 * Notes that a run begins, or finds how far it came. Each attempt removes two that are older than 30 days, with their steps and approvals, so
 * that the tables keep their size without anybody's schedule.
 *
 * @returns its steps so far, oldest first
 */
export async function openAgentRun(
  database: Kysely<Tables>,
  { id, queue, jobId, action, workspaceId }: AgentRunKey,
): Promise<AgentStep[]> {
  await sql`
    with expired as (
      select id from agent_runs where created_at < now() - interval '30 days'
      order by created_at limit 2 for update skip locked
    ), removed as (
      delete from agent_runs where id in (select id from expired where id != ${id})
    )
    insert into agent_runs (id, queue, job_id, action, workspace_id)
    values (${id}, ${queue}, ${jobId}, ${action}, ${workspaceId ?? null}) on conflict do nothing`.execute(database);
  return readAgentSteps(database, id);
}

/** The steps of a run so far, oldest first. */
export async function readAgentSteps(database: Kysely<Tables>, id: string): Promise<AgentStep[]> {
  const [steps, calls] = await Promise.all([
    database.selectFrom("agent_steps").selectAll().where("run_id", "=", id).orderBy("step").execute(),
    database.selectFrom("agent_tool_calls").selectAll().where("run_id", "=", id).execute(),
  ]);
  return steps.map((row) => ({
    step: row.step,
    response: row.response,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    costUsd: row.cost_usd,
    durationMs: row.duration_ms,
    createdAt: row.created_at,
    toolCalls: calls
      .filter(({ step }) => step === row.step)
      .map((call) => ({
        position: call.position,
        tool: call.tool,
        begunAt: call.begun_at,
        output: call.output ?? undefined,
        durationMs: call.duration_ms ?? undefined,
      })),
  }));
}

/**
 * Keeps what the model answered.
 *
 * @returns false where this step is there already: another process is at this run
 */
export async function recordAgentStep(
  database: Kysely<Tables>,
  runId: string,
  { step, response, inputTokens, outputTokens, costUsd, durationMs }: Omit<AgentStep, "createdAt" | "toolCalls">,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("agent_steps")
    .values({
      run_id: runId,
      step,
      response,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cost_usd: costUsd,
      duration_ms: durationMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Notes that a tool is about to be called.
 *
 * @returns false where it was begun before
 */
export async function beginAgentToolCall(
  database: Kysely<Tables>,
  { runId, step, position, tool }: ToolCallKey & { tool: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("agent_tool_calls")
    .values({ run_id: runId, step, position, tool })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Keeps what a tool returned. The first record stays. */
export async function endAgentToolCall(
  database: Kysely<Tables>,
  { runId, step, position }: ToolCallKey,
  { output, durationMs }: { output: string; durationMs: number },
): Promise<void> {
  await database
    .updateTable("agent_tool_calls")
    .set({ output, duration_ms: durationMs })
    .where("run_id", "=", runId)
    .where("step", "=", step)
    .where("position", "=", position)
    .where("output", "is", null)
    .execute();
}
