import { findJob } from "@millrace/job-admin";
import {
  askQueue,
  contracts,
  type QueueContract,
  type QueueName,
  QueueUnavailableError,
  queueNames,
} from "@millrace/worker-config";
import { jobEnvelopeSchema } from "@millrace/worker-config/contracts";
import { ContentionError } from "@millrace/worker-host";
import { z } from "zod";
import { type AgentTool, defineTool, ToolRefusal } from "./agent-tool.ts";
import { isOfWorkspace } from "./is-of-workspace.ts";

const noSuchJob = "There is no such job.";
/** What a model is given of a job's result. */
const maxCharacters = 10_000;

/** Says what became of a job, where it belongs to the workspace of the run. */
export function createLookUpJob(): AgentTool {
  return defineTool({
    name: "lookUpJob",
    description: "Looks up a background job by its queue and id and returns its status, times, result and error.",
    input: z.object({ queue: queueNames, jobId: z.string().min(1).max(250) }),
    isRepeatable: true,
    run: async ({ queue, jobId }, { workspaceId }) => {
      const job = await whenReachable(() => findJob(queue, jobId));
      // Of another workspace's jobs not even that they exist is told.
      if (!job || !(await belongsTo(queue, jobId, workspaceId))) throw new ToolRefusal(noSuchJob);
      const { status, attempts, createdAt, startedAt, finishedAt, error, action } = job;
      const result = JSON.stringify(job.result ?? null);
      return {
        ...{ queue, jobId, action, status, attempts, createdAt, startedAt, finishedAt },
        error: error && { code: error.code, message: error.message },
        result: result.length > maxCharacters ? `${result.slice(0, maxCharacters)}…` : JSON.parse(result),
      };
    },
  });
}

async function belongsTo(queue: QueueName, jobId: string, workspaceId: string | undefined): Promise<boolean> {
  const contract: QueueContract = contracts[queue];
  const stored = await whenReachable(() => askQueue(contract, (opened) => opened.getJob(jobId)));
  const envelope = jobEnvelopeSchema.safeParse(stored?.data);
  return envelope.success && isOfWorkspace(contract, envelope.data.type, envelope.data.data, workspaceId);
}

/** A record that cannot be read is none for a model, now and later; only an outage passes. */
async function whenReachable<T>(question: () => Promise<T>): Promise<T> {
  return question().catch((cause: unknown) => {
    if (!(cause instanceof QueueUnavailableError)) throw new ToolRefusal(noSuchJob);
    throw new ContentionError("The queue cannot be asked.", { code: "queue_unavailable", cause });
  });
}
