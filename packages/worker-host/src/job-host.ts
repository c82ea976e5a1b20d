import type { Logger } from "@millrace/logger";
import type { Tracing } from "@millrace/tracing";
import type { DataSchemas, QueueContract, ResultSchemas } from "@millrace/worker-config/contracts";
import type { WorkspaceWatch } from "@millrace/workspaces";
import type { EffectStore } from "./effect-store.ts";
import type { Enqueue } from "./job-context.ts";
import type { JobHandlers } from "./job-handlers.ts";
import type { JobObserver } from "./job-observer.ts";

/** What the host asks of the directory of workspaces. */
export type WorkspaceStandings = Pick<WorkspaceWatch, "standingOf" | "workspaceOf">;

/** A contract, its handlers, and whatever the host needs to run them. It knows no engine. */
export interface JobHost<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
> {
  readonly contract: QueueContract<Name, Data, Result>;
  readonly handlers: JobHandlers<Data, Result>;
  readonly effects: EffectStore;
  /** Without it nobody is blocked. */
  readonly workspaces: WorkspaceStandings | undefined;
  readonly enqueue: Enqueue;
  readonly log: Logger;
  /** Whoever counts what becomes of jobs. Defaults to nobody. */
  readonly observers?: readonly JobObserver[] | undefined;
  /** Without it nothing is traced, and a job's `traceparent` goes on as it is. */
  readonly tracing?: Pick<Tracing, "traceAttempt"> | undefined;
  /** The engine's clock, in milliseconds since 1970: the one that `runnableAt` of a started job was read from. */
  now(): number;
}
