import {
  type AgentRunSummary,
  type AgentStep,
  agentRunId,
  type Database,
  findAgentRun,
  findNewestAgentRun,
  listAgentRuns,
  readAgentSteps,
} from "@millrace/database";
import { findJob, type JobStatus, jobStatuses } from "@millrace/job-admin";
import { queueNames, workspaceIdSchema } from "@millrace/worker-config";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { isOwn, workspaceFor } from "../access/own-workspace.ts";
import { describeResponse, recordProblemResponses, sendProblem } from "../problem.ts";

const tags = ["agent"];
const moment = z.iso.datetime();
/** A control character is in no id of ours, and PostgreSQL refuses NUL. */
const id = z.string().regex(/^\P{Cc}{1,400}$/u, "expected an id, without control characters");
const params = z.object({ queue: queueNames.extract(["aiAgent", "aiAgentUrgent"]), jobId: id });

const runShape = {
  queue: z.string(),
  jobId: z.string(),
  action: z.string(),
  workspaceId: z.string().nullable(),
  status: jobStatuses.nullable().describe("Of its job. Null where the job's record is gone."),
  createdAt: moment.describe("When it began, which may be long after its job was added."),
  usage: z
    .object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number() })
    .describe("Of what is stored, over all attempts."),
};
const summarySchema = z
  .object({ ...runShape, steps: z.int(), toolCalls: z.int().describe("Those that were begun.") })
  .meta({ id: "AgentRunSummary" });

const stepSchema = z.object({
  step: z.int().describe("From 0 on."),
  finishReason: z.string().nullable(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number(),
  durationMs: z.int(),
  createdAt: moment,
  toolCalls: z.array(
    z.object({
      position: z.int(),
      tool: z.string(),
      state: z.enum(["begun", "done", "refused"]).describe("begun: nobody knows yet whether the call is done."),
      begunAt: moment,
      durationMs: z.int().nullable(),
    }),
  ),
});
const runSchema = z.object({ ...runShape, steps: z.array(stepSchema) }).meta({ id: "AgentRun" });

const messagesSchema = z
  .object({
    steps: z.array(
      z.object({
        step: z.int(),
        text: z.string().describe("What the model said."),
        toolCalls: z.array(
          z.object({ tool: z.string(), input: z.unknown(), output: z.unknown().describe("Null: there is none yet.") }),
        ),
      }),
    ),
  })
  .meta({ id: "AgentRunMessages" });

/** What a worker stored of an answer, as far as it is shown. */
const storedAnswerSchema = z.object({
  text: z.string().catch(""),
  finishReason: z.string().nullable().catch(null),
  toolCalls: z.array(z.object({ tool: z.string(), input: z.unknown() })).catch([]),
});

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
          before: id.optional().describe("The `next` of a page."),
          limit: z.coerce.number().int().min(1).max(100).default(50),
        }),
        response: {
          200: describeResponse("A page.", z.object({ runs: z.array(summarySchema), next: z.string().nullable() })),
          ...recordProblemResponses,
        },
      },
    },
    async ({ access, query }) => {
      const workspaceId = workspaceFor(access, query.workspaceId);
      const runs = await listAgentRuns(database, { ...query, workspaceId });
      const next = runs.length === query.limit ? (runs.at(-1)?.id ?? null) : null;
      return { runs: await Promise.all(runs.map(showSummary)), next };
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

async function showSummary(run: AgentRunSummary): Promise<z.input<typeof summarySchema>> {
  const job = await findJob(queueNames.parse(run.queue), run.jobId);
  const isItsOwn = job && runIdOf(job) === run.id;
  return { ...showRun(run, isItsOwn ? job : undefined), steps: run.steps, toolCalls: run.toolCalls };
}

function runIdOf({ queue, jobId, createdAt }: JobStatus): string {
  return agentRunId({ queue, jobId, createdAt: new Date(createdAt) });
}

function showRun(run: AgentRunSummary, job: JobStatus | undefined) {
  const { queue, jobId, action, workspaceId = null, inputTokens, outputTokens, costUsd } = run;
  const [status, createdAt] = [job?.status ?? null, run.createdAt.toISOString()];
  return { queue, jobId, action, workspaceId, status, createdAt, usage: { inputTokens, outputTokens, costUsd } };
}

function showStep({ response, toolCalls, createdAt, ...step }: AgentStep): z.input<typeof stepSchema> {
  return {
    ...step,
    createdAt: createdAt.toISOString(),
    finishReason: storedAnswerSchema.parse(JSON.parse(response)).finishReason,
    toolCalls: toolCalls
      .toSorted((one, other) => one.position - other.position)
      .map(({ position, tool, begunAt, output, durationMs = null }) => ({
        position,
        // A model may ask for one that there is not, by a name of any length.
        tool: tool.slice(0, 100),
        state: output === undefined ? "begun" : "refusal" in JSON.parse(output) ? "refused" : "done",
        begunAt: begunAt.toISOString(),
        durationMs,
      })),
  };
}

function showMessages({ step, response, toolCalls }: AgentStep): z.input<typeof messagesSchema>["steps"][number] {
  const { text, toolCalls: wanted } = storedAnswerSchema.parse(JSON.parse(response));
  const outputs = new Map(toolCalls.map(({ position, output }) => [position, output]));
  return {
    step,
    text,
    toolCalls: wanted.map(({ tool, input }, position) => ({
      ...{ tool, input },
      output: JSON.parse(outputs.get(position) ?? "null"),
    })),
  };
}

function sendUnknownRun(reply: FastifyReply): FastifyReply {
  const detail = "There is no run of a job with this id. It has not begun, never was, or was removed after 30 days.";
  return sendProblem(reply, { status: 404, title: "Unknown run", code: "unknown_run", detail });
}
