import { type AgentRunSummary, type AgentStep, agentRunId } from "@millrace/database";
import { type JobStatus, jobStatuses } from "@millrace/job-admin";
import { z } from "zod";

const moment = z.iso.datetime();

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
export const summarySchema = z
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
export const runSchema = z.object({ ...runShape, steps: z.array(stepSchema) }).meta({ id: "AgentRun" });

export const messagesSchema = z
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

/** The id that the run of a job has. */
export function runIdOf({ queue, jobId, createdAt }: JobStatus): string {
  return agentRunId({ queue, jobId, createdAt: new Date(createdAt) });
}

export function showSummary(run: AgentRunSummary, job: JobStatus | undefined): z.input<typeof summarySchema> {
  return { ...showRun(run, job), steps: run.steps, toolCalls: run.toolCalls };
}

/** @param job undefined where its record is gone */
export function showRun(run: AgentRunSummary, job: JobStatus | undefined) {
  const { queue, jobId, action, workspaceId = null, inputTokens, outputTokens, costUsd } = run;
  const [status, createdAt] = [job?.status ?? null, run.createdAt.toISOString()];
  return { queue, jobId, action, workspaceId, status, createdAt, usage: { inputTokens, outputTokens, costUsd } };
}

export function showStep({ response, toolCalls, createdAt, ...step }: AgentStep): z.input<typeof stepSchema> {
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

export function showMessages({
  step,
  response,
  toolCalls,
}: AgentStep): z.input<typeof messagesSchema>["steps"][number] {
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
