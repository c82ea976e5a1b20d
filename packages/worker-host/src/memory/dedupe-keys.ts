import type { AcceptedJob } from "@millrace/worker-config";
import { createExpiringMap } from "./expiring-map.ts";
import type { MemoryJob } from "./memory-job.ts";

type Deduplication = NonNullable<AcceptedJob["opts"]["deduplication"]>;

/** A job that is not added yet. */
export interface Candidate {
  readonly jobId: string;
  readonly job: AcceptedJob;
}

/** Which job stands for a dedupe key. */
export interface DedupeKeys {
  /** @returns the id of the job that has the key; nothing when the candidate has it now and is to be added */
  claim(candidate: Candidate, deduplication: Deduplication): string | undefined;
  /**
   * Frees the key of a job that has ended, unless it was to hold longer.
   *
   * @returns the one that came while the job ran, and is to be added now
   */
  release(job: MemoryJob): Candidate | undefined;
}

/** BullMQ's rules, as its `deduplicateJob` script has them. */
export function createDedupeKeys(
  now: () => number,
  find: (jobId: string) => MemoryJob | undefined,
  remove: (job: MemoryJob) => void,
): DedupeKeys {
  const holders = createExpiringMap<string>(now);
  const followers = new Map<string, Candidate>();
  return {
    claim: (candidate, { id: key, ttl, replace, keepLastIfActive }) => {
      const holderId = holders.get(key);
      const holder = holderId === undefined ? undefined : find(holderId);
      if (holderId !== undefined && !(replace && holder?.state === "delayed")) {
        if (keepLastIfActive && holder?.state === "active") {
          followers.set(key, candidate);
          // Until it has ended, or a third would be added beside the follower.
          holders.set(key, holderId);
        }
        return holderId;
      }
      if (holder) remove(holder);
      followers.delete(key);
      holders.set(key, candidate.jobId, ttl);
      return undefined;
    },
    release: ({ jobId, dedupeKey }) => {
      if (dedupeKey === undefined) return undefined;
      const isForTheJob = holders.get(dedupeKey) === jobId && holders.leftMs(dedupeKey) === Number.POSITIVE_INFINITY;
      if (isForTheJob) holders.delete(dedupeKey);
      const follower = followers.get(dedupeKey);
      if (!follower) return undefined;
      followers.delete(dedupeKey);
      holders.set(dedupeKey, follower.jobId);
      return follower;
    },
  };
}
