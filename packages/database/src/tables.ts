import type { Generated } from "kysely";

/** The tables as queries see them; `migrations/` makes them. */
export interface Tables {
  millrace_outbox: OutboxTable;
  email_templates: EmailTemplatesTable;
  email_suppressions: EmailSuppressionsTable;
  sent_emails: SentEmailsTable;
  email_digest_items: EmailDigestItemsTable;
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
