import type { ModelMessage } from "ai";
import { mostCalls } from "./call-tools.ts";
import type { RunStep, ToolOutput } from "./model-run.ts";
import type { RunAgentData } from "./run-agent-data.ts";
import { checkOutput } from "./structured-output.ts";

/** The conversation so far, made of what is stored alone. */
export function messagesOf(data: RunAgentData, steps: readonly RunStep[]): ModelMessage[] {
  return [
    { role: "user", content: data.prompt },
    ...steps.flatMap(({ answer, outputs }): ModelMessage[] => {
      if (answer.toolCalls.length > 0) return [...answer.messages, toolMessage(answer.toolCalls, outputs)];
      const checked = data.output && checkOutput(data.output, answer.text);
      const flaw = checked && "flaw" in checked ? checked.flaw : "it is not complete";
      const correction = `Your answer does not match the schema: ${flaw}. Answer again, with JSON alone.`;
      return [...answer.messages, { role: "user", content: correction }];
    }),
  ];
}

const notCalled: ToolOutput = {
  refusal: `It was not called: one answer may have ${mostCalls} calls. Ask for it again, if it is still needed.`,
};

function toolMessage(
  toolCalls: RunStep["answer"]["toolCalls"],
  outputs: ReadonlyMap<number, ToolOutput>,
): ModelMessage {
  return {
    role: "tool",
    content: toolCalls.map(({ callId, tool }, position) => {
      const output = outputs.get(position) ?? notCalled;
      return {
        type: "tool-result",
        toolCallId: callId,
        toolName: tool,
        output:
          "refusal" in output ? { type: "error-text", value: output.refusal } : { type: "json", value: output.value },
      };
    }),
  };
}
