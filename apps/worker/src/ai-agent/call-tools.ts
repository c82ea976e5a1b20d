import type { Json } from "@millrace/worker-config/contracts";
import { AmbiguousError, type JobContext } from "@millrace/worker-host";
import { withinTime } from "./budget.ts";
import type { RunEvents } from "./job-events.ts";
import type { ModelRun, RunStep, ToolOutput } from "./model-run.ts";
import type { RunAgentData } from "./run-agent-data.ts";
import { type AgentTool, ToolRefusal } from "./tools/agent-tool.ts";

/** Of one answer. What is wanted beyond it is not called, and the model is told so (see `messagesOf`). */
export const mostCalls = 20;

/**
 * Calls those tools that an answer asks for and that have no output yet, one after the other: its first `mostCalls`.
 *
 * @throws AmbiguousError `tool_call_ambiguous` where a tool that is not repeatable was begun in an earlier attempt, and may have been called
 */
export async function callTools(
  run: ModelRun,
  step: RunStep,
  tools: ReadonlyMap<string, AgentTool>,
  data: RunAgentData,
  { signal, workspaceId }: JobContext,
  events: RunEvents,
): Promise<void> {
  for (const [position, wanted] of step.answer.toolCalls.slice(0, mostCalls).entries()) {
    if (step.outputs.has(position)) continue;
    signal.throwIfAborted();
    const tool = wanted.flaw === undefined ? tools.get(wanted.tool) : undefined;
    const name = nameToNote(wanted.tool);
    const isFirst = await run.beginCall(step, position, name);
    if (!isFirst && tool && !tool.isRepeatable) {
      throw new AmbiguousError(`The tool ${tool.name} was called before, and nobody knows what came of it.`, {
        code: "tool_call_ambiguous",
      });
    }
    events.tell("tool-begun", { step: step.step, position, tool: name });
    const startedAt = performance.now();
    const left = Math.max(1, data.budget.timeMs - run.spent().timeMs);
    const output = await withinTime(data.budget, left, signal, async (callSignal): Promise<ToolOutput> => {
      if (!tool) return { refusal: wanted.flaw ?? `There is no tool ${name}.` };
      const callKey = `${run.id}/${step.step}/${position}`;
      const call = { runId: run.id, callKey, workspaceId, signal: callSignal };
      return tool.call(wanted.input, call).then((value: Json) => ({ value }), toRefusal);
    });
    await run.endCall(step, position, output, Math.round(performance.now() - startedAt));
    events.tell("tool-done", { step: step.step, position, tool: name, isRefused: "refusal" in output });
  }
}

/** A model may ask for any name: PostgreSQL takes no NUL, and an event of the run has a size. */
function nameToNote(tool: string): string {
  return tool
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, 100)
    .toWellFormed();
}

function toRefusal(error: unknown): ToolOutput {
  if (error instanceof ToolRefusal) return { refusal: error.message };
  throw error;
}
