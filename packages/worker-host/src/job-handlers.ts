import type { DataSchemas, QueueContract, ResultSchemas } from "@millrace/worker-config/contracts";
import type { z } from "zod";
import type { JobContext } from "./job-context.ts";

/** What a handler of a contract's action looks like: an action without a result schema returns nothing. */
export type JobHandler<Data extends z.ZodType, Result extends z.ZodType> = (
  data: z.output<Data>,
  context: JobContext,
) => Promise<unknown extends z.input<Result> ? void : z.input<Result>>;

/** One handler per action: a missing one does not compile. */
export type JobHandlers<Data extends DataSchemas, Result extends ResultSchemas<Data>> = {
  readonly [Action in keyof Data & string]: JobHandler<Data[Action], Result[Action]>;
};

/** The actions for which there is no handler: what the compiler refuses, and a process that watches its sources runs all the same. */
export function actionsWithoutHandler(contract: QueueContract, handlers: object): readonly string[] {
  return Object.keys(contract.actions).filter((action) => !Object.hasOwn(handlers, action));
}

/** The handlers of a given contract, for whoever declares them apart from `runWorker`. */
export type HandlersOf<Contract extends QueueContract> =
  Contract extends QueueContract<infer _Name, infer Data, infer Result> ? JobHandlers<Data, Result> : never;
