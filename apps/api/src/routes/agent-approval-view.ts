import { type AgentApproval, agentApprovalStates } from "@millrace/database";
import { z } from "zod";

const moment = z.iso.datetime();

export const approvalSchema = z
  .object({
    id: z.string(),
    runId: z.string(),
    workspaceId: z.string().nullable(),
    queue: z.string(),
    action: z.string(),
    data: z.unknown().describe("What the job would be added with."),
    reason: z.string().describe("Why, in the agent's words: what a model says, and nothing that anybody checked."),
    state: z.enum(agentApprovalStates),
    decidedBy: z.string().nullable(),
    decidedAt: moment.nullable(),
    jobId: z.string().nullable().describe("The job, once it was added."),
    createdAt: moment,
  })
  .meta({ id: "AgentApproval" });

/** An approval as the API shows it, payload included. */
export function showApproval({ position: _, ...approval }: AgentApproval): z.input<typeof approvalSchema> {
  return {
    ...approval,
    workspaceId: approval.workspaceId ?? null,
    data: JSON.parse(approval.data),
    decidedBy: approval.decidedBy ?? null,
    decidedAt: approval.decidedAt?.toISOString() ?? null,
    jobId: approval.jobId ?? null,
    createdAt: approval.createdAt.toISOString(),
  };
}
