import type { Generated } from "kysely";

/** The tables as queries see them; `migrations/` makes them. */
export interface Tables {
  millrace_outbox: OutboxTable;
}

export interface OutboxTable {
  /** The order in which jobs are published. */
  position: Generated<string>;
  queue: string;
  action: string;
  /** The payload and the options as JSON text: `jsonb` would refuse characters that a payload may hold. */
  data: string;
  options: string;
  created_at: Generated<Date>;
  /** How often publishing this one was refused for a reason of its own. */
  refusals: Generated<number>;
  /** Why the last time. */
  refusal: string | null;
  /** Not before this moment again. */
  due_at: Generated<Date>;
}
