export { fileStoreEnvSchema, readFileStoreSettings } from "./env.ts";
export {
  createFileStore,
  type FileStore,
  type FileStoreSettings,
  type PutOptions,
  type Sweep,
  type SweepOptions,
} from "./file-store.ts";
export { FileStoreError, type FileStoreErrorCode } from "./file-store-error.ts";
export type { FileStoreLocation } from "./location.ts";
export type { S3Credentials } from "./s3-client.ts";
