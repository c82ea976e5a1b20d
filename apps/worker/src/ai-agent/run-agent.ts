import { type JobContext, PermanentError } from "@millrace/worker-host";
import { type ToolSet, tool as toSdkTool } from "ai";
import type { AskModel, Prices } from "./ask-model.ts";
import { allowanceOf, withinTime } from "./budget.ts";
import { callTools } from "./call-tools.ts";
import { messagesOf } from "./conversation.ts";
import { type AppendEvent, createRunEvents, type RunEvents } from "./job-events.ts";
import { type ModelRun, openModelRun, type RunStep, type ToolOutput } from "./model-run.ts";
import type { RunAgent, RunAgentData } from "./run-agent-data.ts";
import { checkOutput } from "./structured-output.ts";
import type { AgentTool } from "./tools/agent-tool.ts";

export interface RunAgentParts {
  readonly database: Parameters<typeof openModelRun>[0];
  readonly ask: AskModel;
  readonly prices: Prices;
  /** As AI_MAX_OUTPUT_TOKENS. */
  readonly maxOutputTokens: number;
  readonly toolsFor: (data: RunAgentData) => readonly AgentTool[];
  /** Undefined where nobody can follow a run. */
  readonly append?: AppendEvent | undefined;
}

/** How often a model may mend an answer that its schema refuses. */
const mostCorrections = 2;

/**
 * Lets a model work with tools until it has its answer. One turn of the loop is a step: what the tools of the last answer came to, and then
 * the next answer. All of it is stored as it comes (see `ModelRun`), so that a further attempt repeats none of it.
 */
export function createRunAgent(parts: RunAgentParts): RunAgent {
  return async (data, context) => {
    const tools = new Map(parts.toolsFor(data).map((tool) => [tool.name, tool]));
    const run = await openModelRun(parts.database, context);
    const events = createRunEvents(parts.append, context);
    try {
      for (;;) {
        const last = run.steps.at(-1);
        if (last) {
          await callTools(run, last, tools, data, context, events);
          const result = resultOf(run, last, data);
          if (result) return result;
        }
        await takeStep(parts, run, tools, data, context, events);
      }
    } finally {
      await events.flush();
    }
  };
}

/** Asks the model once more, and stores its answer. */
async function takeStep(
  { ask, prices, maxOutputTokens }: RunAgentParts,
  run: ModelRun,
  tools: ReadonlyMap<string, AgentTool>,
  data: RunAgentData,
  context: JobContext,
  events: RunEvents,
): Promise<void> {
  const left = allowanceOf(data.budget, run.spent(), prices);
  // Also withheld answers have numbers.
  const { steps: step } = run.spent();
  await context.progress(Math.floor((step / data.budget.steps) * 100));
  events.tell("step-begun", { step });
  const answered = await ask({
    instructions: data.instructions,
    messages: messagesOf(data, run.steps),
    ...(tools.size > 0 && { tools: toToolSet(tools) }),
    output: data.output,
    maxOutputTokens: Math.min(maxOutputTokens, left.outputTokens),
    onText: (text) => events.text(step, text),
    asker: run.id,
    workspaceId: context.workspaceId,
    signal: context.signal,
    within: (work) => withinTime(data.budget, left.timeMs, context.signal, work),
  });
  await run.record(answered);
  const { inputTokens, outputTokens } = answered.usage;
  const { finishReason, toolCalls } = answered.answer;
  events.tell("step-done", { step, finishReason, inputTokens, outputTokens });
  const names = toolCalls.map(({ tool }) => (tools.has(tool) ? tool : "a tool that there is not"));
  const then = names.length > 0 ? `calls ${names.join(", ")}` : finishReason;
  await context.note(`step ${step}: ${inputTokens} tokens in, ${outputTokens} out; ${then}`);
}

/** What the job returns, where this answer is the last one; nothing where the model goes on. */
function resultOf(run: ModelRun, { answer }: RunStep, data: RunAgentData): Awaited<ReturnType<RunAgent>> | undefined {
  if (answer.toolCalls.length > 0) return undefined;
  const checked = data.output && checkOutput(data.output, answer.text);
  if (checked && "flaw" in checked) {
    const answers = run.steps.filter(({ answer: { toolCalls } }) => toolCalls.length === 0);
    if (answers.length <= mostCorrections) return undefined;
    throw new PermanentError(`The model's answer did not match the schema in ${answers.length} tries.`, {
      code: "output_invalid",
    });
  }
  const { steps, inputTokens, outputTokens, costUsd } = run.spent();
  return {
    text: answer.text,
    output: checked?.output ?? null,
    finishReason: answer.finishReason,
    steps,
    approvals: run.steps.flatMap(({ outputs }) => [...outputs.values()].flatMap(approvalOf)),
    usage: { inputTokens, outputTokens, costUsd },
  };
}

function approvalOf(output: ToolOutput): string[] {
  const value = "value" in output ? output.value : null;
  const isApproval = typeof value === "object" && value !== null && !Array.isArray(value) && "approvalId" in value;
  return isApproval && typeof value.approvalId === "string" ? [value.approvalId] : [];
}

/** Without what they do: the SDK then hands their calls back instead of making them. */
function toToolSet(tools: ReadonlyMap<string, AgentTool>): ToolSet {
  return Object.fromEntries(
    [...tools.values()].map(({ name, description, input }) => [name, toSdkTool({ description, inputSchema: input })]),
  );
}
