export {
  type AgentApproval,
  type AgentApprovalState,
  agentApprovalStates,
  decideAgentApproval,
  findAgentApproval,
  listAgentApprovals,
  type NewAgentApproval,
  recordAgentApprovalJob,
  requestAgentApproval,
} from "./agent-approvals.ts";
export {
  type AgentRunKey,
  type AgentStep,
  type AgentToolCall,
  agentRunId,
  beginAgentToolCall,
  endAgentToolCall,
  openAgentRun,
  readAgentSteps,
  recordAgentStep,
} from "./agent-runs.ts";
export {
  type AuditEntry,
  type AuditFacts,
  type AuditOutcome,
  auditOutcomes,
  beginAuditEntry,
  endAuditEntry,
  listAuditEntries,
  type NewAuditEntry,
} from "./audit-log.ts";
export { connectDatabase, type Database, type DatabaseOptions } from "./connect-database.ts";
export { DatabaseUnavailableError, whenAvailable } from "./database-unavailable.ts";
export {
  addDigestItem,
  claimDigest,
  type Digest,
  type DigestItem,
  type DigestRecipient,
  listDigestRecipients,
  markDigestSent,
  type NewDigestItem,
} from "./email-digest-items.ts";
export {
  findSuppression,
  listSuppressions,
  type Suppression,
  type SuppressionReason,
  suppressAddress,
  suppressionReasons,
  unsuppressAddress,
} from "./email-suppressions.ts";
export {
  deleteEmailTemplate,
  type EmailTemplate,
  findEmailTemplate,
  listEmailTemplates,
  type NewEmailTemplate,
  putEmailTemplate,
} from "./email-templates.ts";
export { databaseEnvSchema, readDatabaseEnv } from "./env.ts";
export { isDatabaseUnavailable } from "./is-database-unavailable.ts";
export { type AgentRunSummary, findAgentRun, findNewestAgentRun, listAgentRuns } from "./list-agent-runs.ts";
export { MigrationError, migrateDatabase } from "./migrate-database.ts";
export { outbox as outboxTableSql } from "./migrations/0001-outbox.ts";
export { type OpenDatabaseOptions, openDatabase } from "./open-database.ts";
export { type RemovedWorkspaceData, removeWorkspaceData } from "./remove-workspace-data.ts";
export { recordSent, wasSent } from "./sent-emails.ts";
export type {
  AgentApprovalsTable,
  AgentRunsTable,
  AgentStepsTable,
  AgentToolCallsTable,
  AuditLogTable,
  EmailDigestItemsTable,
  EmailSuppressionsTable,
  EmailTemplatesTable,
  OutboxTable,
  SentEmailsTable,
  Tables,
  WebhookDeliveriesTable,
  WebhookEndpointsTable,
} from "./tables.ts";
export {
  beginWebhookDelivery,
  closeWebhookDelivery,
  findWebhookDelivery,
  listPendingWebhookDeliveries,
  listWebhookDeliveries,
  type NewWebhookDelivery,
  purgeWebhookDeliveries,
  recordWebhookAttempt,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookDeliveryStatus,
} from "./webhook-deliveries.ts";
export { moveWebhookEndpoint, recordWebhookFailure, recordWebhookSuccess } from "./webhook-endpoint-health.ts";
export {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  findWebhookEndpoint,
  listWebhookEndpoints,
  listWebhookSubscribers,
  type NewWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointState,
} from "./webhook-endpoints.ts";
