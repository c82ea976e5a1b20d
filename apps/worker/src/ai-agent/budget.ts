import type { AgentBudget } from "@millrace/worker-config/contracts";
import { PermanentError } from "@millrace/worker-host";
import type { Prices, Usage } from "./ask-model.ts";

/** What a run has used up so far, over all its attempts. */
export interface Spent extends Usage {
  readonly steps: number;
  readonly timeMs: number;
}

/** What is left for the next step. */
export interface Allowance {
  readonly outputTokens: number;
  readonly timeMs: number;
}

/**
 * What the next step may use. A step that is under way may take more tokens than were left, since nobody knows the size of a question before
 * its answer; then there is no next one, and an answer that came so is kept.
 *
 * @throws PermanentError `budget_steps`, `budget_tokens`, `budget_time` or `budget_cost`
 */
export function allowanceOf(budget: AgentBudget, spent: Spent, prices: Prices): Allowance {
  const tokens = budget.tokens - spent.inputTokens - spent.outputTokens;
  const timeMs = budget.timeMs - spent.timeMs;
  const costUsd = budget.costUsd - spent.costUsd;
  if (spent.steps >= budget.steps) throw usedUp("steps", budget.steps, "steps");
  if (tokens <= 0) throw usedUp("tokens", budget.tokens, "tokens");
  if (timeMs <= 0) throw usedUp("time", budget.timeMs, "milliseconds");
  if (costUsd <= 0) throw usedUp("cost", budget.costUsd, "USD");
  const affordable = prices.output > 0 ? Math.floor((costUsd * 1_000_000) / prices.output) : tokens;
  return { outputTokens: Math.max(1, Math.min(tokens, affordable)), timeMs };
}

/** @throws PermanentError `budget_time` when the run's time is over; the reason of `signal` when the attempt's is */
export async function withinTime<T>(
  budget: AgentBudget,
  leftMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(leftMs);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) throw usedUp("time", budget.timeMs, "milliseconds");
    throw error;
  }
}

function usedUp(what: string, limit: number, unit: string): PermanentError {
  return new PermanentError(
    `The run has used up its budget of ${limit} ${unit} without an answer. Give it more, or less to do.`,
    { code: `budget_${what}` },
  );
}
