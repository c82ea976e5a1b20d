export { type AddressRule, isPublicAddress, isPublicOrPrivateAddress } from "./address-rule.ts";
export { allowPrivateSchema } from "./allow-private.ts";
export { checkUrl } from "./check-url.ts";
export type { ResolveName } from "./guarded-connector.ts";
export { readRetryAfter } from "./read-retry-after.ts";
export {
  createSafeClient,
  type SafeClientOptions,
  type SafeRequest,
  type SafeRequestFunction,
  type SafeResponse,
} from "./safe-client.ts";
export { SafeHttpError, type SafeHttpErrorCode } from "./safe-http-error.ts";
