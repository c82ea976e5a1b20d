export { signWebhook, type WebhookHeaders, type WebhookMessage } from "./sign-webhook.ts";
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookVerificationCode,
  WebhookVerificationError,
} from "./verify-webhook.ts";
export { createWebhookSecret } from "./webhook-secret.ts";
