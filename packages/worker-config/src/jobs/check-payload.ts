import type { QueueContract } from "../contracts/define-queue.ts";
import { type JobEnvelope, jobEnvelopeSchema } from "../contracts/job-envelope.ts";
import { findJsonIssue, type Issue } from "./check-json.ts";
import { findUnknownKey } from "./find-unknown-key.ts";
import { InvalidJobError, toIssues } from "./invalid-job-error.ts";

/** What a job may hold where nobody says otherwise: room for a long mail, and not for a file. */
export const defaultMaxPayloadBytes = 262_144;

export interface CheckedPayload {
  /** The payload as it is at this moment: what its owner does to it afterwards changes nothing of what was checked. */
  readonly stored: JobEnvelope;
  /** Its data as the schema puts it out, defaults filled in. */
  readonly parsed: unknown;
}

/**
 * Checks what a job is about to carry: a known action, JSON, the action's schema, and the size.
 *
 * @throws InvalidJobError
 */
export function checkPayload(
  contract: QueueContract,
  action: string,
  stored: unknown,
  maxPayloadBytes: number,
): CheckedPayload {
  const definition = Object.hasOwn(contract.actions, action) ? contract.actions[action] : undefined;
  if (!definition) throw unknownAction(contract, action);
  const { data: envelope, error } = jobEnvelopeSchema.safeParse(stored);
  if (!envelope) throw invalidData(contract, action, toIssues(error, ""));
  if (envelope.type !== action) {
    throw new InvalidJobError("invalid_data", `A job ${contract.name}/${action} carries data of another type.`, [
      { path: "type", message: `expected "${action}", the job's name` },
    ]);
  }
  const jsonIssue = findJsonIssue(stored, "job");
  if (jsonIssue) throw invalidData(contract, action, [{ ...jsonIssue, path: jsonIssue.path.replace(/^job\./, "") }]);
  const text = JSON.stringify(stored);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxPayloadBytes) {
    throw new InvalidJobError(
      "payload_too_large",
      `A job ${contract.name}/${action} may hold ${maxPayloadBytes} bytes (QUEUE_MAX_PAYLOAD_BYTES), got ${bytes}. Store the content elsewhere and enqueue a reference to it.`,
    );
  }
  const kept: JobEnvelope = JSON.parse(text);
  const parsed = definition.data.safeParse(kept.data);
  if (!parsed.success) throw invalidData(contract, action, toIssues(parsed.error, "data"));
  const unknownKey = findUnknownKey(definition.data, kept.data, "data");
  if (unknownKey) throw invalidData(contract, action, [unknownKey]);
  return { stored: kept, parsed: parsed.data };
}

function unknownAction(contract: QueueContract, action: string): InvalidJobError {
  const known = contract.actionNames.options;
  return new InvalidJobError(
    "unknown_action",
    known.length === 0
      ? `Queue ${contract.name} has no actions yet, so it accepts no job.`
      : `Queue ${contract.name} has no action ${JSON.stringify(action)}; expected one of ${known.join(", ")}.`,
  );
}

function invalidData(contract: QueueContract, action: string, issues: readonly Issue[]): InvalidJobError {
  return new InvalidJobError("invalid_data", `The data of a job ${contract.name}/${action} is not valid.`, issues);
}
