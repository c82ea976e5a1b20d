import {
  type AgentRunSummary,
  type Database,
  findAgentRun,
  findNewestAgentRun,
  listAgentRuns,
  readAgentSteps,
} from "@millrace/database";
import { findJob, type JobStatus } from "@millrace/job-admin";
import { namedPlace } from "@millrace/page-cursor";
import { queueNames, workspaceIdSchema } from "@millrace/worker-config";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { isOwn, workspaceFor } from "../access/own-workspace.ts";
import { pageSchema, pagesOf } from "../page.ts";
import { describeResponse, recordProblemResponses, sendProblem } from "../problem.ts";
import {
  messagesSchema,
  runIdOf,
  runSchema,
  showMessages,
  showRun,
  showStep,
  showSummary,
  summarySchema,
} from "./agent-run-view.ts";

const tags = ["agent"];
/** A control character is in no id of ours, and PostgreSQL refuses NUL. */
const id = z.string().regex(/^\P{Cc}{1,400}$/u, "expected an id, without control characters");
const params = z.object({ queue: queueNames.extract(["aiAgent", "aiAgentUrgent"]), jobId: id });

const pages = pagesOf("agent-runs", namedPlace);

/** `/agent/runs`: what runs of language models did and used. What was said in them is for operators alone. */
export function agentRunRoutes(app: FastifyInstance, database: Database): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get(
    "/agent/runs",
    {
      config: { access: "viewer", workspace: "own" },
      schema: {
        tags,
        summary: "List runs of language models, newest first",
        querystring: z.object({
          workspaceId: workspaceIdSchema.optional(),
          ...pages.query,
        }),
        response: {
          200: describeResponse("A page.", pageSchema(summarySchema)),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, query: { cursor: before, limit, ...query } }) => {
      const workspaceId = workspaceFor(access, query.workspaceId);
      const runs = await listAgentRuns(database, { workspaceId, before, limit });
      const items = await Promise.all(runs.map(async (run) => showSummary(run, await findJobOf(run))));
      return { items, nextCursor: pages.cursorAfter(runs, limit, ({ id }) => id) };
    },
  );

  typed.get(
    "/agent/runs/:queue/:jobId",
    {
      config: { access: "viewer", workspace: "own" },
      schema: {
        tags,
        summary: "Read a run: its steps, the tools that it called, its tokens and its cost",
        params,
        response: { 200: describeResponse("The run, without a word of it.", runSchema), ...recordProblemResponses },
      },
    },
    async ({ access, params }, reply) => {
      const found = await findOwnRun(database, access, params);
      if (!found) return sendUnknownRun(reply);
      const steps = await readAgentSteps(database, found.run.id);
      return { ...showRun(found.run, found.job), steps: steps.map(showStep) };
    },
  );

  typed.get(
    "/agent/runs/:queue/:jobId/messages",
    {
      config: { access: "operator", workspace: "own", audit: "agent.read-messages" },
      schema: {
        tags,
        summary: "Read what a model said in a run, and what its tools were given and returned",
        params,
        response: { 200: describeResponse("All of it.", messagesSchema), ...recordProblemResponses },
      },
    },
    async ({ access, params }, reply) => {
      const found = await findOwnRun(database, access, params);
      if (!found) return sendUnknownRun(reply);
      return { steps: (await readAgentSteps(database, found.run.id)).map(showMessages) };
    },
  );
}

interface FoundRun {
  readonly run: AgentRunSummary;
  readonly job: JobStatus | undefined;
}

/** The run of the job that has this id now, else the newest one under it; nothing where that is not for this caller. */
async function findOwnRun(
  database: Database,
  access: Caller,
  { queue, jobId }: z.infer<typeof params>,
): Promise<FoundRun | undefined> {
  const job = await findJob(queue, jobId);
  const current = job && (await findAgentRun(database, runIdOf(job)));
  const run = current ?? (await findNewestAgentRun(database, { queue, jobId }));
  if (!run || !isOwn(access, run.workspaceId)) return undefined;
  return { run, job: current && job };
}

async function findJobOf(run: AgentRunSummary): Promise<JobStatus | undefined> {
  const job = await findJob(queueNames.parse(run.queue), run.jobId);
  return job && runIdOf(job) === run.id ? job : undefined;
}

function sendUnknownRun(reply: FastifyReply): FastifyReply {
  const detail = "There is no run of a job with this id. It has not begun, never was, or was removed after 30 days.";
  return sendProblem(reply, { status: 404, title: "Unknown run", code: "unknown_run", detail });
}
