import type { Json } from "@millrace/worker-config/contracts";
import type { z } from "zod";

/** The call that a tool is carried out for. */
export interface ToolCall {
  readonly runId: string;
  /** One per call, the same when the call is made again. */
  readonly callKey: string;
  readonly workspaceId: string | undefined;
  readonly signal: AbortSignal;
}

/** Something that a model may ask for. */
export interface AgentTool {
  readonly name: string;
  /** For the model. */
  readonly description: string;
  readonly input: z.ZodType;
  /** Whether a call that was begun and may have happened can simply be made again. */
  readonly isRepeatable: boolean;
  /**
   * @param input what the model gave
   * @throws ToolRefusal what the model is told
   * @throws whatever else ends the attempt
   */
  call(input: unknown, call: ToolCall): Promise<Json>;
}

/** The tool cannot do what the model wants. It is told so, and goes on. */
export class ToolRefusal extends Error {
  override readonly name = "ToolRefusal";
}

/** A tool whose function gets what its schema makes of the model's arguments. */
export function defineTool<Input extends z.ZodType>(
  tool: Omit<AgentTool, "input" | "call"> & {
    readonly input: Input;
    readonly run: (input: z.output<Input>, call: ToolCall) => Promise<Json>;
  },
): AgentTool {
  const { run, ...rest } = tool;
  return {
    ...rest,
    call: async (given, call) => {
      const parsed = tool.input.safeParse(given);
      if (parsed.success) return run(parsed.data, call);
      const flaws = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
      throw new ToolRefusal(`The arguments are not valid. ${flaws.join("; ")}`);
    },
  };
}
