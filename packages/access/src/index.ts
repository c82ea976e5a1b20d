export { type ApiKey, apiKeySchema, type NewApiKey, newApiKeySchema } from "./api-key.ts";
export { type ApiKeyList, createApiKey, keyCursorSchema, listApiKeys, revokeApiKey } from "./manage-keys.ts";
export { type Role, roles } from "./roles.ts";
export { createKeyVerifier, type KeyVerifier, keyCacheMs } from "./verify-key.ts";
