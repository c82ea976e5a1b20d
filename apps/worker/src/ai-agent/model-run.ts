import {
  type AgentStep,
  agentRunId,
  beginAgentToolCall,
  type Database,
  endAgentToolCall,
  openAgentRun,
  recordAgentStep,
  whenAvailable,
} from "@millrace/database";
import type { Json } from "@millrace/worker-config/contracts";
import { ContentionError, type JobContext, PermanentError } from "@millrace/worker-host";
import type { Answer, Usage } from "./ask-model.ts";
import type { Spent } from "./budget.ts";

/** What a tool came to, as the model is told it. */
export type ToolOutput = { readonly value: Json } | { readonly refusal: string };

/** One answer of the model with what its tools came to so far, by their position in it. */
export interface RunStep {
  readonly step: number;
  readonly answer: Answer;
  readonly outputs: ReadonlyMap<number, ToolOutput>;
}

/**
 * A run as the database keeps it: each answer is stored before anything is done about it, and each tool's output before the model sees it. So
 * a further attempt of the job goes on where the last one ended, however that did.
 */
export interface ModelRun {
  readonly id: string;
  /** Without those whose answer the server withheld. */
  readonly steps: readonly RunStep[];
  spent(): Spent;
  /**
   * Stores an answer as the next step.
   *
   * @throws ContentionError `run_superseded` where another process has stored it
   * @throws PermanentError `content_filtered` where the server withheld it: it is paid for and counted, and no step to go on from
   */
  record(answered: { readonly answer: Answer; readonly usage: Usage; readonly durationMs: number }): Promise<RunStep>;
  /** Notes that a tool is about to be called. Resolves with false where it was begun before, and may have been called. */
  beginCall(step: RunStep, position: number, tool: string): Promise<boolean>;
  /** Stores what it came to. */
  endCall(step: RunStep, position: number, output: ToolOutput, durationMs: number): Promise<void>;
}

/** Why an answer ended that the server took back. */
const withheld = "content-filter";

interface Entry extends RunStep {
  readonly outputs: Map<number, ToolOutput>;
}

/** Begins the run of a job, or takes it up. A job that was added anew under an old id has a run of its own. */
export async function openModelRun(database: Database, context: JobContext): Promise<ModelRun> {
  const { queue, jobId, action, workspaceId } = context;
  const id = agentRunId(context);
  const stored = await whenAvailable(() => openAgentRun(database, { id, queue, jobId, action, workspaceId }));
  const entries = stored.map(toEntry);
  const steps = entries.filter(({ answer }) => answer.finishReason !== withheld);
  const spent = { steps: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, timeMs: 0 };
  const add = ({ inputTokens, outputTokens, costUsd }: Usage, durationMs: number) => {
    spent.steps += 1;
    spent.inputTokens += inputTokens;
    spent.outputTokens += outputTokens;
    spent.costUsd += costUsd;
    spent.timeMs += durationMs;
  };
  for (const step of stored) {
    add(step, step.durationMs);
    for (const { durationMs = 0 } of step.toolCalls) spent.timeMs += durationMs;
  }
  return {
    id,
    steps,
    spent: () => ({ ...spent }),
    record: async ({ answer, usage, durationMs }) => {
      const entry: Entry = { step: entries.length, answer, outputs: new Map() };
      const response = JSON.stringify(answer);
      const row = { step: entry.step, response, ...usage, durationMs };
      if (!(await whenAvailable(() => recordAgentStep(database, id, row)))) {
        throw new ContentionError("Another process is at this run.", { code: "run_superseded" });
      }
      entries.push(entry);
      add(usage, durationMs);
      if (answer.finishReason === withheld) {
        throw new PermanentError("The model's server withheld the answer.", { code: "content_filtered" });
      }
      steps.push(entry);
      return entry;
    },
    beginCall: ({ step }, position, tool) =>
      whenAvailable(() => beginAgentToolCall(database, { runId: id, step, position, tool })),
    endCall: async ({ step }, position, output, durationMs) => {
      const row = { output: JSON.stringify(output), durationMs };
      await whenAvailable(() => endAgentToolCall(database, { runId: id, step, position }, row));
      entries[step]?.outputs.set(position, output);
      spent.timeMs += durationMs;
    },
  };
}

function toEntry({ step, response, toolCalls }: AgentStep): Entry {
  // Both were written by `record` and `endCall`, of this version or an older one: their forms only gain optional fields.
  const answer: Answer = JSON.parse(response);
  const outputs = toolCalls.flatMap(({ position, output }) =>
    output === undefined ? [] : [[position, JSON.parse(output) as ToolOutput] as const],
  );
  return { step, answer, outputs: new Map(outputs) };
}
