import type { Generated } from "kysely";

/** The tables as queries see them; `migrations/` makes them. */
export interface Tables {
  millrace_outbox: OutboxTable;
  email_templates: EmailTemplatesTable;
  email_suppressions: EmailSuppressionsTable;
  sent_emails: SentEmailsTable;
  email_digest_items: EmailDigestItemsTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  agent_runs: AgentRunsTable;
  agent_steps: AgentStepsTable;
  agent_tool_calls: AgentToolCallsTable;
  agent_approvals: AgentApprovalsTable;
  audit_log: AuditLogTable;
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

export interface EmailTemplatesTable {
  id: string;
  /** Empty for the one that serves every locale without its own. */
  locale: string;
  /** Grows with every change; no two contents ever share one. */
  version: Generated<number>;
  subject: string;
  /** One of the two may be missing. */
  html: string | null;
  text: string | null;
  updated_at: Generated<Date>;
}

export interface EmailSuppressionsTable {
  /** In lower case. */
  address: string;
  reason: string;
  /** What the mail server answered, such as 5.1.1. */
  code: string | null;
  /** The job that was rejected. */
  job_id: string | null;
  created_at: Generated<Date>;
}

export interface SentEmailsTable {
  message_id: string;
  sent_at: Generated<Date>;
}

export interface EmailDigestItemsTable {
  id: Generated<string>;
  workspace_id: string | null;
  /** In lower case. */
  recipient: string;
  topic: string | null;
  text: string;
  link: string | null;
  created_at: Generated<Date>;
  /** The Message-ID of the digest that is about to hold it, or holds it. */
  claimed_by: string | null;
  claimed_at: Date | null;
  sent_at: Date | null;
}

export interface WebhookEndpointsTable {
  id: Generated<string>;
  workspace_id: string | null;
  url: string;
  /** Names, `*`, or the beginning of a name followed by `.*`. */
  events: string[];
  description: string | null;
  /** Who is told when the endpoint is paused. */
  owner_email: string | null;
  /** As it is, not as a digest: each delivery is signed with it. */
  secret: string;
  secret_created_at: Generated<Date>;
  /** The one before, valid beside it until it expires. */
  previous_secret: string | null;
  previous_secret_expires_at: Date | null;
  state: Generated<string>;
  state_reason: string | null;
  state_since: Generated<Date>;
  /** Since the first failure after the last success. */
  failing_since: Date | null;
  created_at: Generated<Date>;
}

export interface WebhookDeliveriesTable {
  id: string;
  /** The order in which deliveries began. */
  position: Generated<string>;
  endpoint_id: string;
  event: string;
  event_id: string;
  occurred_at: Date;
  /** What the event says, as JSON text. Kept as long as the row, so that the delivery can be made again. */
  payload: string;
  job_id: string;
  status: Generated<string>;
  attempts: Generated<number>;
  http_status: number | null;
  duration_ms: number | null;
  /** The beginning of what the endpoint answered. */
  excerpt: string | null;
  error_code: string | null;
  created_at: Generated<Date>;
  finished_at: Date | null;
}

export interface AgentRunsTable {
  id: string;
  queue: string;
  job_id: string;
  action: string;
  workspace_id: string | null;
  created_at: Generated<Date>;
}

export interface AgentStepsTable {
  run_id: string;
  /** From 0 on. */
  step: number;
  /** What the model answered, as JSON text: `jsonb` would refuse characters that an answer may hold. */
  response: string;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  duration_ms: number;
  created_at: Generated<Date>;
}

export interface AgentToolCallsTable {
  run_id: string;
  step: number;
  /** Which of the calls that the step asks for, from 0 on: what a model calls them need not be unique. */
  position: number;
  tool: string;
  begun_at: Generated<Date>;
  /** What the tool returned, as JSON text; null while nobody knows whether it is done. */
  output: string | null;
  duration_ms: number | null;
}

export interface AgentApprovalsTable {
  id: string;
  /** The order in which they were asked for. */
  position: Generated<string>;
  run_id: string;
  workspace_id: string | null;
  queue: string;
  action: string;
  /** The data of the job as JSON text. */
  data: string;
  /** Why the agent wants the job, in its own words. */
  reason: string;
  state: Generated<string>;
  decided_by: string | null;
  decided_at: Date | null;
  /** The job, once it was added. */
  job_id: string | null;
  created_at: Generated<Date>;
}

export interface AuditLogTable {
  /** The order in which things were begun. */
  id: Generated<string>;
  at: Generated<Date>;
  key_id: string;
  /** As the key was called then. */
  key_name: string;
  workspace_id: string | null;
  action: string;
  /** What it was done to, as JSON text: `jsonb` would refuse characters that an id may hold. Never a payload. */
  target: string;
  request_id: string;
  /** None until it has ended. */
  outcome: string | null;
  status: number | null;
  /** Counts and ids, as JSON text. */
  details: string | null;
  ended_at: Date | null;
}
