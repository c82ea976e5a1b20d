import type { Database } from "@millrace/database";
import type { SafeRequestFunction } from "@millrace/safe-http";
import type { AgentToolName } from "@millrace/worker-config/contracts";
import type { AgentTool } from "./tools/agent-tool.ts";
import { createCalculate } from "./tools/calculate.ts";
import { createFetchPage } from "./tools/fetch-page.ts";
import { createLookUpJob } from "./tools/look-up-job.ts";
import { createRequestJob } from "./tools/request-job.ts";

/** The tools of a run: those that its job names, and `requestJob` where it may ask for jobs. */
export function createAgentTools({
  database,
  request,
}: {
  readonly database: Database;
  readonly request: SafeRequestFunction;
}): (data: { readonly tools: readonly AgentToolName[]; readonly requestableJobs: readonly string[] }) => AgentTool[] {
  const known: Record<AgentToolName, AgentTool> = {
    fetchPage: createFetchPage(request),
    lookUpJob: createLookUpJob(),
    calculate: createCalculate(),
  };
  return ({ tools, requestableJobs: [first, ...others] }) => [
    ...tools.map((name) => known[name]),
    ...(first === undefined ? [] : [createRequestJob(database, [first, ...others])]),
  ];
}
