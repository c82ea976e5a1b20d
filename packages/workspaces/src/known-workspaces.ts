import type { ChangeWord } from "./directory-in-redis.ts";
import type { Answer } from "./directory-questions.ts";
import { createRecentAnswers, type RecentAnswers } from "./recent-answers.ts";

/** What a watch holds of the directory: two sets whole, and of the rest the answers that it used last. */
export interface KnownWorkspaces {
  /** How many changes it has seen. */
  version: number;
  readonly blockedOwners: Set<string>;
  readonly goneWorkspaces: Set<string>;
  readonly owners: RecentAnswers;
  readonly links: RecentAnswers;
}

const recentAnswers = 10_000;

export function createKnown(
  whole: Pick<KnownWorkspaces, "version" | "blockedOwners" | "goneWorkspaces">,
): KnownWorkspaces {
  return { ...whole, owners: createRecentAnswers(recentAnswers), links: createRecentAnswers(recentAnswers) };
}

const apply: Record<ChangeWord, (known: KnownWorkspaces, id: string) => void> = {
  ownerAssigned: ({ owners }, workspaceId) => owners.forget(workspaceId),
  ownerBlocked: ({ blockedOwners }, ownerId) => blockedOwners.add(ownerId),
  ownerUnblocked: ({ blockedOwners }, ownerId) => blockedOwners.delete(ownerId),
  deletionScheduled: ({ goneWorkspaces }, workspaceId) => goneWorkspaces.add(workspaceId),
  deletionCancelled: ({ goneWorkspaces }, workspaceId) => goneWorkspaces.delete(workspaceId),
  workspaceForgotten: ({ goneWorkspaces, owners, links }, workspaceId) => {
    goneWorkspaces.delete(workspaceId);
    owners.forget(workspaceId);
    links.forgetEvery(workspaceId);
  },
  linkChanged: ({ links }, reference) => links.forget(reference),
};

/** @returns whether it understood every change. If not, it is no longer true and has to be read anew. */
export function applyChanges(
  known: KnownWorkspaces,
  { version, changes }: { version: number; changes: readonly string[] },
): boolean {
  for (const change of changes) {
    const space = change.indexOf(" ");
    const word = change.slice(0, space);
    if (!isChangeWord(word)) return false;
    apply[word](known, change.slice(space + 1));
  }
  known.version = version;
  return true;
}

function isChangeWord(word: string): word is ChangeWord {
  return Object.hasOwn(apply, word);
}

/** Keeps an answer, unless a later change is known already: the answer may be from before it. */
export function remember(known: KnownWorkspaces, of: "owners" | "links", key: string, found: Answer): void {
  if (found.version >= known.version) known[of].set(key, found.answer);
}
