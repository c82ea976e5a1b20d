import type { RedisConnectionOptions } from "@millrace/redis";
import { directoryKeys } from "./directory-in-redis.ts";
import { askForOwner, askForWorkspace } from "./directory-questions.ts";
import { followDirectory } from "./follow-directory.ts";
import { remember } from "./known-workspaces.ts";
import { inTime } from "./lookup-error.ts";
import { isId, nameOfReference, requireKind, type WorkspaceReference } from "./workspace-ids.ts";

/** How a workspace stands. One that nobody told the directory about is active. */
export type Standing =
  | { readonly standing: "active" }
  | { readonly standing: "blocked"; readonly ownerId: string }
  /** Scheduled for deletion. */
  | { readonly standing: "gone" };

/** What a worker process asks before every job. Both look-ups reject with WorkspaceLookupError, within a second, when Redis does not say. */
export interface WorkspaceWatch {
  /** Resolves when the directory has been read for the first time, or the watch was closed. Without Redis that is when Redis comes. */
  readonly ready: Promise<void>;
  /** At once where this process knows. */
  standingOf(workspaceId: string): Standing | Promise<Standing>;
  /**
   * The workspace to which something was linked, or undefined.
   *
   * @throws Error when the kind has another form than `linkWorkspace` takes
   */
  workspaceOf(reference: WorkspaceReference): Promise<string | undefined>;
  /** Closes the connection. What is asked afterwards is a WorkspaceLookupError. */
  close(): void;
}

export interface WatchOptions {
  readonly connection: RedisConnectionOptions;
  /** The QUEUE_PREFIX. */
  readonly prefix: string;
  /** Told once when Redis is lost or does not answer, and again only after it answered in between. Defaults to telling nobody. */
  readonly onOutage?: (error: Error) => void;
}

/**
 * Watches the directory of workspaces, one watch per worker process, over one connection. Four times a second it asks what has changed;
 * a look-up is answered from memory, unless the workspace is new to this process or nothing was heard for 1.5 seconds. Then it is one
 * command.
 *
 * In memory are all blocked owners and all workspaces scheduled for deletion, at about 80 bytes each, and the owners and references that
 * were used last, 10,000 of either. The two sets are read at the start and after a lost connection, a thousand ids at a time: 100,000 take
 * a third of a second.
 */
export function watchWorkspaces({ connection, prefix, onOutage = () => {} }: WatchOptions): WorkspaceWatch {
  const directory = followDirectory(connection, prefix, onOutage);
  const { redis } = directory;
  const keys = directoryKeys(prefix);

  async function askForStanding(workspaceId: string): Promise<Standing> {
    const before = directory.held();
    const found = await inTime(askForOwner(redis, keys, workspaceId));
    if (before) remember(before, "owners", workspaceId, found);
    return found.isGone ? { standing: "gone" } : standing(found.answer, found.isBlocked);
  }

  return {
    ready: directory.ready,
    standingOf: (workspaceId) => {
      // What the directory cannot hold, nobody told it about.
      if (!isId(workspaceId)) return { standing: "active" };
      const known = directory.trusted();
      if (known?.goneWorkspaces.has(workspaceId)) return { standing: "gone" };
      const ownerId = known?.owners.get(workspaceId);
      if (known && ownerId !== undefined)
        return standing(ownerId, ownerId !== null && known.blockedOwners.has(ownerId));
      return askForStanding(workspaceId);
    },
    workspaceOf: async ({ kind, id }) => {
      const reference = nameOfReference(requireKind(kind), id);
      if (!isId(id)) return undefined;
      const workspaceId = directory.trusted()?.links.get(reference);
      if (workspaceId !== undefined) return workspaceId ?? undefined;

      const before = directory.held();
      const found = await inTime(askForWorkspace(redis, keys, reference));
      if (before) remember(before, "links", reference, found);
      return found.answer ?? undefined;
    },
    close: directory.close,
  };
}

function standing(ownerId: string | null, isBlocked: boolean): Standing {
  return ownerId !== null && isBlocked ? { standing: "blocked", ownerId } : { standing: "active" };
}
