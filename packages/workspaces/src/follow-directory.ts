import { setTimeout as wait } from "node:timers/promises";
import type { RedisConnectionOptions } from "@millrace/redis";
import { Redis } from "ioredis";
import { directoryKeys } from "./directory-in-redis.ts";
import { askForChanges, readWhole } from "./directory-questions.ts";
import { applyChanges, createKnown, type KnownWorkspaces } from "./known-workspaces.ts";
import { withoutCommand } from "./lookup-error.ts";

/** Four times a second is nothing to Redis, and leaves a late answer its time within `trustMs`. */
const askEveryMs = 250;
/** What is held counts for so long after the last question that was answered. So a change is effective within two seconds, come what may. */
const trustMs = 1_500;
/** A connection over which no answer comes, as from a machine that is gone, is replaced after this. */
const silenceMs = 2_000;

/** What a process holds of the directory, kept up to date over a connection of its own. */
export interface FollowedDirectory {
  readonly redis: Redis;
  /** Resolves when the directory has been read for the first time, or following ended. */
  readonly ready: Promise<void>;
  /** What is held, however old. */
  held(): KnownWorkspaces | undefined;
  /** What is held, if nothing in it is older than 1.5 seconds. */
  trusted(): KnownWorkspaces | undefined;
  close(): void;
}

/**
 * Asks four times a second what has changed. Messages would tell sooner, but nobody notices the one that is lost; here the next answer holds
 * whatever the lost one held.
 *
 * @param onOutage told once when Redis is lost or does not answer, and again only after it answered in between
 */
export function followDirectory(
  connection: RedisConnectionOptions,
  prefix: string,
  onOutage: (error: Error) => void,
): FollowedDirectory {
  const redis = new Redis({
    ...connection,
    // A question waits for the next attempt to connect and not beyond: questions do not pile up during an outage.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: true,
    autoResendUnfulfilledCommands: false,
    socketTimeout: silenceMs,
  });
  const keys = directoryKeys(prefix);
  const closing = new AbortController();
  const ready = Promise.withResolvers<void>();
  let known: KnownWorkspaces | undefined;
  let trustedUntil = 0;

  let isOut = false;
  const tellOutage = (error: Error) => {
    if (isOut || closing.signal.aborted) return;
    isOut = true;
    onOutage(withoutCommand(error));
  };
  redis.on("error", tellOutage);
  redis.on("ready", () => {
    isOut = false;
  });

  // Behind a new connection may be another Redis, which came to the same version by other changes.
  let connectionsLost = 0;
  let readAfter = 0;
  redis.on("close", () => {
    connectionsLost += 1;
  });

  /** @returns whether everything is known that Redis knew when it was asked */
  const catchUp = async (): Promise<boolean> => {
    const lostBefore = connectionsLost;
    const next = known && readAfter === lostBefore ? known : createKnown(await readWhole(redis, keys));
    const askedAt = performance.now();
    const news = await askForChanges(redis, keys, next.version);
    if (!news || connectionsLost !== lostBefore || !applyChanges(next, news)) {
      known = undefined;
      return false;
    }
    known = next;
    readAfter = lostBefore;
    // From the time of the question: a later change need not be in the answer.
    trustedUntil = askedAt + trustMs;
    return true;
  };
  const follow = async () => {
    while (!closing.signal.aborted) {
      try {
        if (!(await catchUp())) continue;
        isOut = false;
        ready.resolve();
      } catch (error) {
        tellOutage(error instanceof Error ? error : new Error(String(error)));
      }
      await wait(askEveryMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  };
  void follow();

  return {
    redis,
    ready: ready.promise,
    held: () => known,
    trusted: () => (performance.now() < trustedUntil ? known : undefined),
    close: () => {
      closing.abort();
      trustedUntil = 0;
      ready.resolve();
      redis.disconnect();
    },
  };
}
