import {
  type DataSchemas,
  type JobEnvelope,
  jobEnvelopeSchema,
  type QueueContract,
  type ResultSchemas,
} from "@millrace/worker-config/contracts";
import type { z } from "zod";
import { PermanentError, TransientError } from "./job-error.ts";

/** A job whose action is known and whose data fits it. */
export interface ParsedJob<Data extends DataSchemas, Action extends keyof Data & string> {
  readonly action: Action;
  readonly data: z.output<Data[Action]>;
  readonly run: NonNullable<JobEnvelope["run"]>;
  readonly meta: JobEnvelope["meta"];
}

/**
 * The second of the two doors where data is checked: what comes out of Redis may be older or newer than this code.
 *
 * @param handled the actions that have a handler here; the compiler asks for each, but code that is being written runs without
 * @throws TransientError `unknown_action`: a producer one deploy ahead may know an action that this worker does not know yet
 * @throws PermanentError `invalid_data`: no later attempt can mend it
 */
export function parseJob<
  Name extends QueueContract["name"],
  Data extends DataSchemas,
  Result extends ResultSchemas<Data>,
>(
  contract: QueueContract<Name, Data, Result>,
  handled: object,
  job: { readonly action: string; readonly data: unknown },
): ParsedJob<Data, keyof Data & string> {
  if (!isActionOf(contract, job.action)) {
    throw new TransientError(`Queue ${contract.name}: this worker knows no action ${JSON.stringify(job.action)}.`, {
      code: "unknown_action",
    });
  }
  if (!Object.hasOwn(handled, job.action)) {
    throw new TransientError(
      `Queue ${contract.name}: the action "${job.action}" is in the contract, and this worker has no handler for it. Add one to its handlers, and replay what has failed meanwhile.`,
      { code: "unknown_action" },
    );
  }
  const action: keyof Data & string = job.action;
  const envelope = jobEnvelopeSchema.safeParse(job.data);
  if (!envelope.success || envelope.data.type !== action) {
    throw new PermanentError(`Expected { type: "${action}", data }, got another form.`, { code: "invalid_data" });
  }
  const parsed = contract.actions[action].data.safeParse(envelope.data.data);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      (issue) => `${["data", ...issue.path.map(String)].join(".")}: ${issue.message}`,
    );
    throw new PermanentError(`The data of ${contract.name}/${action} is not valid. ${issues.join(" ")}`, {
      code: "invalid_data",
    });
  }
  return { action, data: parsed.data, run: envelope.data.run ?? {}, meta: envelope.data.meta };
}

function isActionOf<Data extends DataSchemas>(
  contract: { readonly actions: Readonly<Record<keyof Data & string, unknown>> },
  action: string,
): action is keyof Data & string {
  return Object.hasOwn(contract.actions, action);
}
