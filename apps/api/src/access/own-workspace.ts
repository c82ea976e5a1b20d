import {
  defaultTimeoutMs,
  enqueueOptionsSchema,
  InvalidJobError,
  makeJobId,
  type QueueContract,
  workspaceOf,
} from "@millrace/worker-config";
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

/**
 * An example as this caller may enqueue it: for a workspace's key with its workspace in it.
 *
 * @returns nothing where such a key may not enqueue it, because the contract reads no workspace out of it
 */
export function ownExample(
  { workspaceId }: Caller,
  contract: QueueContract,
  action: string,
  example: unknown,
): unknown {
  if (workspaceId === undefined || typeof example !== "object") return example;
  const own = { ...example, workspaceId };
  return workspaceOf(contract, action, own) === workspaceId ? own : undefined;
}

/**
 * The options of an enqueue as a workspace's key may mean them: the job's id and the dedupe key are the workspace's own, so that no workspace can
 * take another one's, or find out by `duplicate` that it is taken. The answer says under which id the job is stored. An attempt may take as long as
 * its action says and no longer: the places of a worker are everybody's.
 *
 * @throws InvalidJobError
 */
export function ownOptions(
  { workspaceId }: Caller,
  { actions }: QueueContract,
  action: string,
  options: unknown,
): unknown {
  const parsed = enqueueOptionsSchema.safeParse(options);
  // The enqueue says what is wrong with it.
  if (workspaceId === undefined || !parsed.success || !Object.hasOwn(actions, action)) return options;
  const { jobId, dedupe, ...rest } = parsed.data;
  const longestMs = actions[action]?.timeout ?? defaultTimeoutMs;
  if (rest.timeoutMs !== undefined && rest.timeoutMs > longestMs) {
    const message = `expected at most ${longestMs}, which is the action's own, from a key of one workspace`;
    throw new InvalidJobError("invalid_options", "The job was not added.", [{ path: "options.timeoutMs", message }]);
  }
  return {
    ...rest,
    ...(jobId !== undefined && { jobId: makeJobId(workspaceId, jobId) }),
    ...(dedupe && { dedupe: { ...dedupe, key: makeJobId(workspaceId, dedupe.key) } }),
  };
}
