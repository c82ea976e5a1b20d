import type { Database } from "@millrace/database";
import type { FileStore } from "@millrace/file-store";
import type { JobEventFeed } from "@millrace/job-events";
import type { Logger } from "@millrace/logger";
import type { Tracing } from "@millrace/tracing";
import type { OwnerDirectory } from "./open-directory.ts";
import type { QueueLimits } from "./routes/health.ts";
import type { ScheduleLimits } from "./routes/schedule-request.ts";
import type { WaitLimits } from "./waiting-room.ts";

/** What the app is made of and bounded by. Whoever makes it reads the environment. */
export interface AppOptions {
  readonly apiKeys: readonly string[];
  /** The largest payload that an enqueue takes, in bytes. */
  readonly maxPayloadBytes: number;
  /** Whether webhook endpoints may be in private networks, as WEBHOOK_ALLOW_PRIVATE. Defaults to false. */
  readonly allowPrivateEndpoints?: boolean;
  readonly scheduleLimits: ScheduleLimits;
  /** What is kept beside the jobs. While it is away, whatever needs it answers 503, and the rest works. */
  readonly database: Database;
  /** Where uploads go. The app does not close it. */
  readonly files: FileStore;
  /** By which requests follow jobs and wait for them. The app does not close it. */
  readonly feed: JobEventFeed;
  /** Where it is told whose jobs run. */
  readonly directory: OwnerDirectory;
  /** How long a browser is to insist on TLS, in seconds. Defaults to 0: nothing is said. */
  readonly hstsSeconds?: number;
  /** How long an operator's action stays in the audit log, in days. Defaults to a year. */
  readonly auditKeepDays?: number;
  /** How many wrong keys an address may give within a minute. Defaults to 20; 0: no limit. */
  readonly maxWrongKeys?: number;
  /** Signs what a browser keeps after a login, the same in every process. Without it nobody can log in. */
  readonly sessionSecret?: string | undefined;
  /** Sends that over TLS alone. Defaults to false. */
  readonly isProduction?: boolean;
  /** The proxies before the API, whose word on a caller's address counts: addresses or networks, separated by commas. Defaults to none. */
  readonly trustProxy?: string | undefined;
  /** From when on readiness calls a queue degraded. Defaults to 10,000 jobs that wait and 100 dead letters. */
  readonly queueLimits?: QueueLimits;
  /** Traces requests. Defaults to nothing. */
  readonly tracing?: Pick<Tracing, "startRequest"> | undefined;
  /** Whether another process in this one's place is the only help. Defaults to never. */
  readonly isWedged?: () => boolean;
  /** How many requests may wait for jobs at once, or follow them. Defaults to 1,000, half of them of one key, a tenth of one workspace. */
  readonly waitLimits?: Partial<WaitLimits>;
  /** How long a request may take whose route does not say, in milliseconds. Defaults to 5 seconds. */
  readonly requestTimeoutMs?: number;
  readonly log: Logger;
}
