import type { BulkJobOptions, Job, JobsOptions, Queue } from "bullmq";

/**
 * BullMQ's own queue under a contract's types: a name that disagrees with the type, an unknown action or wrong data does not
 * compile, also in bulk. Code that wants a plain `Queue` (a dashboard) takes it as it is.
 */
// All six parameters are given, or BullMQ's conditional types stay deferred; NoInfer keeps the data from widening the action.
export interface TypedQueue<Data extends { type: string; data: unknown }>
  extends Queue<Data, unknown, Data["type"], Data, unknown, Data["type"]> {
  add<Action extends Data["type"]>(
    name: Action,
    data: Extract<Data, { type: NoInfer<Action> }>,
    options?: JobsOptions,
  ): Promise<Job<Data, unknown, Data["type"]>>;
  addBulk(
    jobs: {
      [Action in Data["type"]]: { name: Action; data: Extract<Data, { type: Action }>; opts?: BulkJobOptions };
    }[Data["type"]][],
  ): Promise<Job<Data, unknown, Data["type"]>[]>;
}
