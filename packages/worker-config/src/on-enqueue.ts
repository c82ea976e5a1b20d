import { maxMetaEntries } from "./contracts/job-options.ts";
import type { Enqueued } from "./enqueued.ts";
import { InvalidJobError } from "./jobs/invalid-job-error.ts";

/** An enqueue that begins. */
export interface BegunEnqueue {
  readonly queue: string;
  readonly action: string;
  /** What its caller put into `meta.traceparent`. */
  readonly traceparent: string | undefined;
}

/** What somebody who follows an enqueue wants to do with it. */
export interface FollowedEnqueue {
  /** What the job is to carry as its `meta.traceparent`, in the caller's place. */
  readonly traceparent: string;
  added(added: Enqueued): void;
  failed(error: unknown): void;
}

type Follow = (begun: BegunEnqueue) => FollowedEnqueue;

let follow: Follow | undefined;

/**
 * Lets one follow every enqueue of this process, to trace it. Without one, an enqueue costs nothing more.
 *
 * @returns ends it
 */
export function onEnqueue(follower: Follow): () => void {
  follow = follower;
  return () => {
    if (follow === follower) follow = undefined;
  };
}

/**
 * Runs an enqueue under the eyes of who follows.
 *
 * @param options of the enqueue, unchecked: what is no object is left for the check to refuse
 */
export async function followed(
  queue: string,
  action: string,
  options: unknown,
  add: (options: unknown) => Promise<Enqueued>,
): Promise<Enqueued> {
  if (!follow || !isRecord(options)) return add(options);
  const { meta = {} } = options;
  if (!isRecord(meta)) return add(options);
  const traceparent = typeof meta.traceparent === "string" ? meta.traceparent : undefined;
  const following = follow({ queue, action, traceparent });
  try {
    const traced = { ...meta, traceparent: following.traceparent };
    // One that has no room for it, in its labels or in its bytes, is not to be refused because somebody looks on.
    const added = await (Object.keys(traced).length > maxMetaEntries
      ? add(options)
      : add({ ...options, meta: traced }).catch((error: unknown) => {
          if (!isTooLarge(error)) throw error;
          return add(options);
        }));
    following.added(added);
    return added;
  } catch (error) {
    following.failed(error);
    throw error;
  }
}

/** Refused before anything was sent. */
function isTooLarge(error: unknown): boolean {
  return error instanceof InvalidJobError && error.code === "payload_too_large";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
