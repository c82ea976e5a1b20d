import type { JobSkip } from "@millrace/worker-config/contracts";
import type { ClassifiedFailure } from "./classify-failure.ts";
import type { FailureOutcome } from "./decide-outcome.ts";

/** What became of one start of a job. Closed: an engine that settles it handles each. */
export type JobOutcome =
  | { readonly outcome: "completed"; readonly result: unknown }
  | ({ readonly outcome: "skipped" } & JobSkip)
  | (FailureOutcome & { readonly failure: ClassifiedFailure });
