import { aiAgentContract } from "./contracts/ai-agent.ts";
import { aiAgentUrgentContract } from "./contracts/ai-agent-urgent.ts";
import type { ActionInput, JobAction, QueueContract } from "./contracts/define-queue.ts";
import type { EnqueueOptions } from "./contracts/job-options.ts";
import { enqueue } from "./enqueue.ts";
import type { Enqueued } from "./enqueued.ts";

/** The priorities of jobs for whose answer somebody waits. BullMQ's 0 is none of them: it stands for a job without a priority. */
const urgentPriorities: ReadonlySet<unknown> = new Set([1, 2, 3]);

/**
 * The queue of a job for a language model: `aiAgentUrgent` for the priorities 1 to 3, else `aiAgent`, also for none.
 *
 * @param priority as an enqueue takes it; whatever it refuses is not urgent
 */
export function agentContractFor(priority: unknown): typeof aiAgentContract | typeof aiAgentUrgentContract {
  return urgentPriorities.has(priority) ? aiAgentUrgentContract : aiAgentContract;
}

/**
 * The contract of the queue that a job goes to which was asked for by a queue's name: of jobs for language models the priority decides, of all
 * others the name.
 *
 * @param options as an enqueue takes them, right or wrong
 */
export function targetContract(contract: QueueContract, options: unknown): QueueContract {
  if (contract.name !== aiAgentContract.name || typeof options !== "object" || options === null) return contract;
  return agentContractFor("priority" in options ? options.priority : undefined);
}

/**
 * Adds a job for a language model to the queue that its priority says. An id or a dedupe key holds within one queue: the same one with
 * another priority may be another job.
 *
 * @returns what `enqueue` does, and the queue
 * @throws what `enqueue` does
 */
export async function enqueueAgent<Action extends JobAction<typeof aiAgentContract>>(
  action: Action,
  data: ActionInput<typeof aiAgentContract, Action>,
  options: EnqueueOptions = {},
): Promise<Enqueued & { readonly queue: "aiAgent" | "aiAgentUrgent" }> {
  const contract = agentContractFor(options.priority);
  return { ...(await enqueue(contract, action, data, options)), queue: contract.name };
}
