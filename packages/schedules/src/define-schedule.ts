import { prepareEnqueue } from "@millrace/worker-config";
import type { ActionInput, JobAction, QueueContract } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { type Cadence, cadenceShape, refineCadence, shortestGapMs, toCadence } from "./cadence/index.ts";
import { missedPolicies, type OverlapPolicy, overlapPolicies, refinePolicies, type Schedule } from "./schedule.ts";

/** What a schedule of the code declares. */
export interface ScheduleDeclaration<Contract extends QueueContract, Action extends JobAction<Contract>> {
  /** Its name for good: letters, digits and `-`, 32 at most. Under another id it is another schedule. */
  readonly id: string;
  readonly contract: Contract;
  readonly action: Action;
  /** Data, fixed at registration: a handler that needs the time reads the clock when it runs. */
  readonly data: NoInfer<ActionInput<Contract, Action>>;
  /** Defaults to `skip`. */
  readonly overlap?: OverlapPolicy;
  /** Defaults to `once`. */
  readonly missed?: z.input<typeof missedPolicies>;
  /** Its handler runs under a lock of this lease: after a crash the next run is not held up for longer. Shorter than the cadence. */
  readonly lock?: { readonly timeoutInSeconds: number };
}

/** A schedule that the code owns. */
export interface CodeSchedule extends Schedule {
  readonly workspaceId: null;
  readonly lock: { readonly key: string; readonly timeoutInSeconds: number } | undefined;
}

const declarationSchema = z
  .strictObject({
    ...cadenceShape,
    id: z
      .string()
      .max(32)
      .regex(/^[a-z][a-z0-9-]*$/i, "expected letters, digits and -, beginning with a letter"),
    overlap: overlapPolicies.default("skip"),
    missed: missedPolicies.default("once"),
    lock: z.strictObject({ timeoutInSeconds: z.number().positive() }).optional(),
  })
  .superRefine(refineCadence)
  .superRefine(refinePolicies);

/**
 * Declares a schedule of the code: when it is due, and the job that it then adds. Data; `registerSchedules` puts it into force.
 *
 * @throws Error that names the schedule and the field when a cadence, a policy or the data is not valid, or the lock's lease is not
 *   shorter than the cadence
 */
export function defineSchedule<Contract extends QueueContract, Action extends JobAction<Contract>>(
  declaration: ScheduleDeclaration<Contract, Action> & Cadence,
): CodeSchedule {
  const { contract, action, data, ...rest } = declaration;
  const title = `Schedule ${JSON.stringify(rest.id)}`;
  const parsed = declarationSchema.safeParse(rest);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new Error(`${title} is not valid. ${issues.join(". ")}.`);
  }
  // What an enqueue would refuse at night is refused now.
  prepareEnqueue(contract, action, data, {}, Date.now());
  const { id, overlap, missed, lock } = parsed.data;
  const cadence = toCadence(parsed.data);
  const gapMs = shortestGapMs(cadence, Date.now());
  if (lock && lock.timeoutInSeconds * 1_000 >= gapMs) {
    throw new Error(
      `${title}: expected lock.timeoutInSeconds below the shortest time between two runs, ${gapMs / 1_000} s, got ${lock.timeoutInSeconds}.`,
    );
  }
  return {
    id,
    workspaceId: null,
    cadence,
    queue: contract.name,
    action,
    data,
    overlap,
    missed,
    lock: lock && { key: `schedule:${id}`, timeoutInSeconds: lock.timeoutInSeconds },
  };
}
