import { outbox } from "./0001-outbox.ts";
import { emailTemplates } from "./0002-email-templates.ts";
import { emailSuppressions } from "./0003-email-suppressions.ts";
import { sentEmails } from "./0004-sent-emails.ts";
import { emailDigestItems } from "./0005-email-digest-items.ts";
import { webhookEndpoints } from "./0006-webhook-endpoints.ts";
import { webhookDeliveries } from "./0007-webhook-deliveries.ts";
import { emailDigestItemsOfWorkspace } from "./0008-email-digest-items-of-workspace.ts";
import { agentRuns } from "./0009-agent-runs.ts";
import { auditLog } from "./0010-audit-log.ts";

/**
 * Every change of the schema, oldest first, by the name under which a database remembers it. Forward only: one that has landed is never
 * edited, and old processes run beside it, so it adds and leaves what they use.
 */
export const migrations: Readonly<Record<string, string>> = {
  "0001-outbox": outbox,
  "0002-email-templates": emailTemplates,
  "0003-email-suppressions": emailSuppressions,
  "0004-sent-emails": sentEmails,
  "0005-email-digest-items": emailDigestItems,
  "0006-webhook-endpoints": webhookEndpoints,
  "0007-webhook-deliveries": webhookDeliveries,
  "0008-email-digest-items-of-workspace": emailDigestItemsOfWorkspace,
  "0009-agent-runs": agentRuns,
  "0010-audit-log": auditLog,
};
