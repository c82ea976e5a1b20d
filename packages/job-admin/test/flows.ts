import { getRedisConnection, readQueueEnv } from "@millrace/worker-config";
import { FlowProducer, type JobsOptions } from "bullmq";
import { mailJob } from "./failed-jobs.ts";

/** A job of a test's flow, in the queue `email` unless it says otherwise. */
export interface FlowNode {
  readonly id: string;
  readonly queue?: string;
  readonly opts?: JobsOptions;
  readonly children?: readonly FlowNode[];
}

/** Adds a flow as any producer would, with plain BullMQ. */
export async function addFlow(root: FlowNode): Promise<void> {
  const producer = new FlowProducer({ connection: getRedisConnection("worker"), prefix: readQueueEnv().QUEUE_PREFIX });
  await producer.add(toFlowJob(root));
  await producer.close();
}

type FlowJob = Parameters<FlowProducer["add"]>[0];

function toFlowJob({ id, queue = "email", opts, children = [] }: FlowNode): FlowJob {
  return {
    name: "sendEmail",
    queueName: queue,
    data: mailJob,
    opts: { ...opts, jobId: id },
    children: children.map(toFlowJob),
  };
}
