/**
 * The name of a key that is Millrace's own, beside the keys that BullMQ keeps per queue: `{millrace}:_lock:nightly-digest`. A queue's name
 * begins with a letter, so the two never meet; and all of them share the prefix's hash tag, so that one script may use several on Redis
 * Cluster.
 *
 * @param prefix the QUEUE_PREFIX
 */
export function ownKey(prefix: string, kind: OwnKeyKind, ...parts: readonly string[]): string {
  return [prefix, `_${kind}`, ...parts].join(":");
}

/** What Millrace keeps in Redis beside the queues. A closed list, so that two rooms never share a name by accident. */
export type OwnKeyKind =
  | "access"
  | "events"
  | "fence"
  | "idempotency"
  | "lock"
  | "quarantine"
  | "rate"
  | "replays"
  | "requests"
  | "schedules"
  | "search"
  | "semaphore"
  | "stats"
  | "workers"
  | "workspaces";
