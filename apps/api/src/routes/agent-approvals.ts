import {
  type AgentApproval,
  agentApprovalStates,
  type Database,
  decideAgentApproval,
  findAgentApproval,
  listAgentApprovals,
  recordAgentApprovalJob,
} from "@millrace/database";
import { countedPlace } from "@millrace/page-cursor";
import { workspaceIdSchema } from "@millrace/worker-config";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import type { Caller } from "../access/caller.ts";
import { isOwn, workspaceFor } from "../access/own-workspace.ts";
import { pageSchema, pagesOf } from "../page.ts";
import { describeProblem, describeResponse, recordProblemResponses, sendProblem } from "../problem.ts";
import { approvalSchema, showApproval } from "./agent-approval-view.ts";
import { addApprovedJob, checkApprovedJob } from "./approved-job.ts";

const tags = ["agent"];
const params = z.object({ id: z.string().max(100) });

const decisionSchema = z
  .strictObject({
    decidedBy: z
      .string()
      .regex(/^\P{Cc}{1,200}$/u, "expected 1 to 200 characters, none of them a control character")
      .optional()
      .describe("Who decides, as the caller knows the person. Defaults to the name of the key."),
  })
  .nullish();

const pages = pagesOf("agent-approvals", countedPlace);

/** `/agent/approvals`: jobs that agents want to be added, payloads included, and what a person says to each. */
export function agentApprovalRoutes(app: FastifyInstance, database: Database): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get(
    "/agent/approvals",
    {
      config: { access: "operator", workspace: "own" },
      schema: {
        tags,
        summary: "List what agents want to have approved, newest first",
        querystring: z.object({
          workspaceId: workspaceIdSchema.optional(),
          state: z.enum(agentApprovalStates).optional(),
          ...pages.query,
        }),
        response: {
          200: describeResponse("A page.", pageSchema(approvalSchema)),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, query: { cursor: before, limit, state, ...query } }) => {
      const workspaceId = workspaceFor(access, query.workspaceId);
      const approvals = await listAgentApprovals(database, { workspaceId, state, before, limit });
      const nextCursor = pages.cursorAfter(approvals, limit, ({ position }) => position);
      return { items: approvals.map(showApproval), nextCursor };
    },
  );

  typed.get(
    "/agent/approvals/:id",
    {
      config: { access: "operator", workspace: "own" },
      schema: { tags, summary: "Read one", params, response: answers("The approval.") },
    },
    async ({ access, params: { id } }, reply) => {
      const approval = await findOwnApproval(database, access, id);
      return approval ? showApproval(approval) : sendUnknownApproval(reply);
    },
  );

  typed.post(
    "/agent/approvals/:id/approve",
    {
      config: { access: "operator", workspace: "own", audit: "agent.approve" },
      schema: {
        tags,
        summary: "Approve a job, and add it",
        description:
          "Once more adds nothing. An approval whose job could not be added, such as while Redis was away, adds it then.",
        params,
        body: decisionSchema,
        response: {
          ...answers("Approved, and the job is added."),
          409: describeProblem("It was rejected, or another job holds its id (`job_id_taken`)."),
        },
      },
    },
    async (request, reply) => {
      const approval = await decide(database, request, "approved");
      if (!approval) return sendUnknownApproval(reply);
      if (approval.state !== "approved") return sendDecided(reply, approval);
      if (approval.jobId !== undefined) return showApproval(approval);
      const jobId = await addApprovedJob(approval);
      if (jobId === undefined) return sendIdTaken(reply, approval);
      await recordAgentApprovalJob(database, approval.id, jobId);
      noteAudit(request, { queue: approval.queue, jobId });
      return showApproval({ ...approval, jobId });
    },
  );

  typed.post(
    "/agent/approvals/:id/reject",
    {
      config: { access: "operator", workspace: "own", audit: "agent.reject" },
      schema: {
        tags,
        summary: "Reject a job, which is then never added",
        params,
        body: decisionSchema,
        response: { ...answers("Rejected, now or before."), 409: describeProblem("It was approved.") },
      },
    },
    async (request, reply) => {
      const approval = await decide(database, request, "rejected");
      if (!approval) return sendUnknownApproval(reply);
      return approval.state === "rejected" ? showApproval(approval) : sendDecided(reply, approval);
    },
  );
}

function answers(description: string) {
  return { 200: describeResponse(description, approvalSchema), ...recordProblemResponses };
}

async function findOwnApproval(database: Database, access: Caller, id: string): Promise<AgentApproval | undefined> {
  const approval = await findAgentApproval(database, id);
  return approval && isOwn(access, approval.workspaceId) ? approval : undefined;
}

/** The approval as it stands after the decision; nothing where there is none for this caller. */
async function decide(
  database: Database,
  {
    access,
    params: { id },
    body,
  }: { access: Caller; params: z.infer<typeof params>; body: z.infer<typeof decisionSchema> },
  state: "approved" | "rejected",
): Promise<AgentApproval | undefined> {
  const approval = await findOwnApproval(database, access, id);
  if (!approval) return undefined;
  if (state === "approved" && approval.state === "pending") checkApprovedJob(approval);
  return decideAgentApproval(database, id, { state, decidedBy: body?.decidedBy ?? access.keyName });
}

function sendUnknownApproval(reply: FastifyReply): FastifyReply {
  const detail = "There is no approval with this id. It never was, or its run was removed after 30 days.";
  return sendProblem(reply, { status: 404, title: "Unknown approval", code: "unknown_approval", detail });
}

function sendIdTaken(reply: FastifyReply, { id, queue }: AgentApproval): FastifyReply {
  const detail = `It is approved, but queue ${queue} holds another job under the id ${id}, and nothing was added. Remove that job, then approve again.`;
  return sendProblem(reply, { status: 409, title: "Job id taken", code: "job_id_taken", detail });
}

function sendDecided(reply: FastifyReply, { state }: AgentApproval): FastifyReply {
  const detail = `It is ${state} already; the first decision stands.`;
  return sendProblem(reply, { status: 409, title: "Already decided", code: "already_decided", detail });
}
