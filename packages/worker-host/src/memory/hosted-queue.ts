import type {
  DataSchemas,
  QueueContract,
  QueueName,
  QueueSettings,
  ResultSchemas,
} from "@millrace/worker-config/contracts";
import type { JobHandlers } from "../job-handlers.ts";
import type { JobHost } from "../job-host.ts";
import type { JobOutcome } from "../job-outcome.ts";
import { processJob } from "../process-job.ts";
import type { AbortSource } from "../run-with-deadline.ts";
import type { StartedJob } from "../started-job.ts";

/** What every queue of a host runs with. */
export type HostParts = Omit<JobHost<QueueName, DataSchemas, ResultSchemas<DataSchemas>>, "contract" | "handlers">;

/** A contract with its handlers, whose types stay between the two: a host holds several of them. */
export interface HostedQueue {
  readonly name: QueueName;
  readonly settings: QueueSettings;
  processWith(parts: HostParts): (job: StartedJob, abort: AbortSource) => Promise<JobOutcome>;
}

/** Says who handles a queue's jobs: `hosted(emailContract, emailHandlers(sendMail, from))`. A missing handler does not compile. */
export function hosted<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(contract: QueueContract<Name, Data, Result>, handlers: JobHandlers<Data, Result>): HostedQueue {
  return {
    name: contract.name,
    settings: contract.settings,
    processWith: (parts) => (job, abort) => processJob({ ...parts, contract, handlers }, job, abort),
  };
}
