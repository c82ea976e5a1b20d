import { Parser } from "expr-eval-fork";
import { z } from "zod";
import { type AgentTool, defineTool, ToolRefusal } from "./agent-tool.ts";

// Numbers and functions of numbers alone: no names, texts, lists, assignments, or anything that has a member.
const parser = new Parser({
  allowMemberAccess: false,
  operators: {
    assignment: false,
    fndef: false,
    concatenate: false,
    in: false,
    length: false,
    logical: false,
    comparison: false,
    conditional: false,
    random: false,
  },
});
const plainExpression = /^[\d\s.,+\-*/%^!()a-zA-Z]+$/;

/** Arithmetic, which models are bad at. */
export function createCalculate(): AgentTool {
  return defineTool({
    name: "calculate",
    description:
      "Evaluates an arithmetic expression and returns its value. It knows + - * / % (remainder) ^ ! ( ), PI, E, and functions such as sqrt, round, floor, ceil, abs, min, max, ln, log10, sin.",
    input: z.object({ expression: z.string().min(1).max(500).describe("Such as (1240 * 17.5) / 100") }),
    isRepeatable: true,
    run: async ({ expression }) => ({ value: evaluate(expression) }),
  });
}

function evaluate(expression: string): number {
  const value = plainExpression.test(expression) ? tryEvaluate(expression) : undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new ToolRefusal("Expected an arithmetic expression whose value is a number.");
  }
  // A double's sixteenth and seventeenth digits are its own noise: 0.1 + 0.2.
  return Number(value.toPrecision(15));
}

function tryEvaluate(expression: string): unknown {
  try {
    return parser.evaluate(expression);
  } catch {
    return undefined;
  }
}
