import { z } from "zod";
import type { QueueName } from "./queue-names.ts";
import type { SearchableField } from "./searchable.ts";

/** What survives a trip through Redis. A schema whose input is a Date, a BigInt or a Map does not compile as a job's data. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };

export type DataSchema = z.ZodType<unknown, Json>;
export type ResultSchema = z.ZodType<Json>;

/** Everything about one kind of job, declared once: types, API routes, OpenAPI and the host's behaviour derive from it. */
export interface ActionDefinition<Data extends DataSchema = DataSchema, Result extends ResultSchema = ResultSchema> {
  readonly data: Data;
  /** What the handler returns and the job's status shows. Without it the handler returns nothing. */
  readonly result?: Result;
  /** How long one attempt may take before its signal aborts, in milliseconds. Defaults to `defaultTimeoutMs`. */
  readonly timeout?: number;
  /**
   * An attempt that is cut short by a shutdown may begin anew. Needed where `timeout` is longer than a worker's grace time, which such
   * a job would otherwise exceed at every deploy. Defaults to false.
   */
  readonly interruptible?: boolean;
  /** The tenant that the job belongs to; none means that it runs for nobody in particular. A method, so that a contract fits code that serves every contract. */
  workspaceId?(data: z.output<Data>): string | WorkspaceReference | undefined;
  /**
   * Two jobs of this action and of one workspace with the same key have one effect: the key need not name the workspace. Hand it on to the
   * service that has the effect, where that takes one.
   */
  idempotencyKey?(data: z.output<Data>): string | undefined;
  /**
   * What its jobs can be found by, beside their workspace: `{ to: (data) => data.to }`. Kept as digests. A field of one name may be declared
   * by several actions of the queue, and finds the jobs of all.
   */
  readonly searchable?: { readonly [field: string]: SearchableField<z.output<Data>> };
  /** How long an effect is remembered, in milliseconds. Defaults to `defaultIdempotencyLifetimeMs`. */
  readonly idempotencyLifetimeMs?: number;
  readonly options?: { readonly attempts?: number };
  /** Data that works as it stands where `pnpm dev` runs. The page of examples makes its command of it. */
  readonly example?: NoInfer<z.input<Data>>;
}

/** Something that belongs to a workspace and stands for it, where the data does not name the workspace itself. */
export interface WorkspaceReference {
  /** Such as `integration`, `conversation` or `import`. */
  readonly kind: string;
  readonly id: string;
}

/** What holds for a queue as a whole, over all its worker processes. */
export interface QueueSettings {
  /** Its jobs serve no tenant (audit, error logs, cleaning up), and run whoever is blocked. Defaults to false. */
  readonly isHousekeeping?: boolean;
  /** How many of its jobs run at once, over all processes. Defaults to no limit but the processes' own. */
  readonly concurrency?: number;
  /** How many of its jobs may start within `durationMs`, over all processes. Defaults to no limit. */
  readonly rateLimit?: { readonly max: number; readonly durationMs: number };
}

export type DataSchemas = Record<string, DataSchema>;
export type ResultSchemas<Data extends DataSchemas> = Record<keyof Data, ResultSchema>;

export interface QueueContract<
  Name extends QueueName = QueueName,
  Data extends DataSchemas = DataSchemas,
  Result extends ResultSchemas<Data> = ResultSchemas<Data>,
> {
  readonly name: Name;
  readonly actions: { readonly [Action in keyof Data & string]: ActionDefinition<Data[Action], Result[Action]> };
  readonly settings: QueueSettings;
  /** For whoever needs `.parse` or `.options`; `.enum` holds the action names as values. */
  readonly actionNames: z.ZodEnum<{ [Action in keyof Data & string]: Action }>;
}

export type JobAction<Contract extends QueueContract> = keyof Contract["actions"] & string;

/** One action's payload as a producer writes it, before defaults are filled in. */
export type ActionInput<Contract extends QueueContract, Action extends JobAction<Contract>> = z.input<
  Contract["actions"][Action]["data"]
>;

/** What travels through Redis, discriminated on `type`. */
export type JobData<Contract extends QueueContract> = {
  [Action in JobAction<Contract>]: { type: Action; data: ActionInput<Contract, Action> };
}[JobAction<Contract>];

/** How long one attempt may take when its action does not say, in milliseconds. */
export const defaultTimeoutMs = 30_000;

/** How long an effect is remembered when its action does not say: a day, in milliseconds. */
export const defaultIdempotencyLifetimeMs: number = 24 * 60 * 60_000;

/** What an action's `result` was inferred as; an action without one has the wide schema, which stands for nothing. */
type Results<Data extends DataSchemas, Result extends Record<string, unknown>> = {
  [Action in keyof Data]: Result[Action & string] extends ResultSchema ? Result[Action & string] : ResultSchema;
};

/**
 * Declares a queue: its name and, per action, the schema of its data and what the host needs to know. A contract is data: making
 * one opens nothing and reads nothing. New fields of an action are optional or have a default, because jobs outlive deploys.
 *
 * @throws RangeError when a limit in `settings`, or an action's `idempotencyLifetimeMs`, is not a positive whole number
 */
export function defineQueue<Name extends QueueName, Data extends DataSchemas, Result extends Record<string, unknown>>(
  name: Name,
  // Two maps laid over each other: the compiler infers a map of schemas only from a type of its own.
  actions: { readonly [Action in keyof Data]: Omit<ActionDefinition<Data[Action]>, "result"> } & {
    readonly [Action in keyof Result]: { readonly result?: Result[Action] & ResultSchema };
  },
  settings: QueueSettings = {},
): QueueContract<Name, Data, Results<Data, Result>> {
  checkSettings(name, settings);
  checkLifetimes(name, actions);
  const names = Object.fromEntries(Object.keys(actions).map((action) => [action, action]));
  return {
    name,
    settings,
    // The same definitions; only the compiler saw them as two maps.
    actions: actions as QueueContract<Name, Data, Results<Data, Result>>["actions"],
    // Object.fromEntries forgets that each key is its own value.
    actionNames: z.enum(names as { [Action in keyof Data & string]: Action }),
  };
}

function checkSettings(name: string, { concurrency, rateLimit }: QueueSettings): void {
  const limits = { concurrency, "rateLimit.max": rateLimit?.max, "rateLimit.durationMs": rateLimit?.durationMs };
  for (const [limit, value] of Object.entries(limits)) {
    if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
    throw new RangeError(`Queue ${name}: expected ${limit} to be a positive whole number, got ${value}.`);
  }
}

// Redis takes no other, and would say so only when the effect has happened.
function checkLifetimes(name: string, actions: Record<string, Pick<ActionDefinition, "idempotencyLifetimeMs">>): void {
  for (const [action, { idempotencyLifetimeMs: value = defaultIdempotencyLifetimeMs }] of Object.entries(actions)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new RangeError(
      `Queue ${name}: expected idempotencyLifetimeMs of ${action} to be a positive whole number, got ${value}.`,
    );
  }
}
