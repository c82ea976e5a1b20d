import { ownKey } from "@millrace/redis";
import type { Redis } from "ioredis";

/** How many of the latest changes are kept for the watches. One that is further behind reads the whole again. */
export const journalLength = 10_000;

/** What can change, as the journal writes it: the word, a space, the id of what changed. A watch that meets a newer word reads the whole. */
export type ChangeWord =
  | "ownerAssigned"
  | "ownerBlocked"
  | "ownerUnblocked"
  | "deletionScheduled"
  | "deletionCancelled"
  | "workspaceForgotten"
  | "linkChanged";

/** The keys of the directory. All share the prefix's hash tag. */
export function directoryKeys(prefix: string) {
  const key = (name: string) => ownKey(prefix, "workspaces", name);
  return {
    /** Counts the changes. */
    version: key("version"),
    /** List of the latest changes, oldest first. */
    journal: key("journal"),
    /** Hash workspace → owner. */
    owners: key("owners"),
    /** Set of owners. */
    blocked: key("blocked"),
    /** Set of the workspaces that are scheduled for deletion. */
    gone: key("gone"),
    /** Hash of those → when that was said, in milliseconds since 1970 by Redis' clock. */
    goneSince: key("gone-since"),
    /** Hash reference → workspace. */
    links: key("links"),
    /** With `:<workspace>`: set of the references that lead there. */
    linked: key("linked"),
  };
}

export type DirectoryKeys = ReturnType<typeof directoryKeys>;

/** One Redis command. The script finds the keys under their names here. */
export function runScript(redis: Redis, keys: DirectoryKeys, script: string, ...values: string[]): Promise<unknown> {
  const names = Object.keys(keys);
  const named = `local ${names.join(", ")} = unpack(KEYS)\n${script}`;
  return redis.eval(named, names.length, ...Object.values(keys), ...values);
}
