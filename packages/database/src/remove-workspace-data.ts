import { type Kysely, sql } from "kysely";
import type { Tables } from "./tables.ts";

export interface RemovedWorkspaceData {
  readonly digestItems: number;
  readonly webhookEndpoints: number;
  readonly agentRuns: number;
}

/**
 * Removes what is kept for a workspace and could still go out: digest items that were not sent, webhook endpoints with their secrets
 * and deliveries, and runs of agents with what they wait to have approved.
 *
 * @param options.batchSize how many rows one statement removes; a statement has 15 seconds. Defaults to 1,000
 * @param options.signal ends it between two statements, with its reason; what is removed stays so
 */
export async function removeWorkspaceData(
  database: Kysely<Tables>,
  workspaceId: string,
  { batchSize = 1_000, signal }: { readonly batchSize?: number; readonly signal?: AbortSignal } = {},
): Promise<RemovedWorkspaceData> {
  const limit = sql`limit ${batchSize}`;
  const removeAll = async (statement: ReturnType<typeof sql>) => {
    for (let total = 0; ; ) {
      signal?.throwIfAborted();
      const { numAffectedRows = 0n } = await statement.execute(database);
      total += Number(numAffectedRows);
      if (numAffectedRows < batchSize) return total;
    }
  };
  const digestItems = await removeAll(
    sql`delete from email_digest_items where id in (
      select id from email_digest_items where workspace_id = ${workspaceId} and sent_at is null ${limit})`,
  );
  // An endpoint takes its deliveries along, in one statement however many they are: first most of them by themselves.
  await removeAll(
    sql`delete from webhook_deliveries where id in (
      select delivery.id from webhook_deliveries delivery join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
      where endpoint.workspace_id = ${workspaceId} ${limit})`,
  );
  const webhookEndpoints = await removeAll(
    sql`delete from webhook_endpoints where id in (
      select id from webhook_endpoints where workspace_id = ${workspaceId} ${limit})`,
  );
  const agentRuns = await removeAll(
    sql`delete from agent_runs where id in (select id from agent_runs where workspace_id = ${workspaceId} ${limit})`,
  );
  return { digestItems, webhookEndpoints, agentRuns };
}
