import { type QueueContract, workspaceOf } from "@millrace/worker-config";
import type { Caller } from "./caller.ts";

/** A workspace's key named another workspace, or none where it has to name its own. */
export class OtherWorkspaceError extends Error {
  override readonly name = "OtherWorkspaceError";
}

/** Whether a record is for this caller to see. Of one that is not, its route says that there is none. */
export function isOwn({ workspaceId }: Caller, ofRecord: string | null | undefined): boolean {
  return workspaceId === undefined || workspaceId === ofRecord;
}

/**
 * The workspace that a request is about: a filter, or the owner of what it makes. A workspace's key may leave out its own.
 *
 * @throws OtherWorkspaceError
 */
export function workspaceFor({ workspaceId }: Caller, named: string | undefined): string | undefined {
  if (workspaceId === undefined || workspaceId === named) return named;
  if (named === undefined) return workspaceId;
  throw new OtherWorkspaceError("This key is for one workspace, and the request names another one.");
}

/**
 * Lets a workspace's key enqueue for its workspace alone, as the contract reads it out of the data. Data that is not valid is for the enqueue to refuse.
 *
 * @throws OtherWorkspaceError
 */
export function requireOwnData({ workspaceId }: Caller, contract: QueueContract, action: string, data: unknown): void {
  if (workspaceId === undefined || !Object.hasOwn(contract.actions, action)) return;
  if (workspaceOf(contract, action, data) === workspaceId) return;
  throw new OtherWorkspaceError(
    `This key is for one workspace: expected data of ${contract.name}/${action} that names it, as its contract's workspaceId reads it.`,
  );
}
