import type { WorkspaceWatch } from "./watch-workspaces.ts";
import type { WorkspaceReference } from "./workspace-ids.ts";

/** What became of guarded work. `message` is for people and names nobody. */
export type Guarded<Value> =
  | { readonly skipped: false; readonly value: Value }
  | { readonly skipped: true; readonly code: "owner_blocked" | "workspace_gone"; readonly message: string };

/**
 * Runs `fn` unless the workspace's owner is blocked or the workspace is scheduled for deletion; then it answers so, without throwing, and
 * the job is done. Without a workspace `fn` runs, and so it does for one that the directory does not know.
 *
 * @throws WorkspaceLookupError when Redis does not say how the workspace stands: `fn` was not run
 */
export async function withBlockedOwnerGuard<Value>(
  watch: Pick<WorkspaceWatch, "standingOf">,
  workspaceId: string | undefined,
  fn: () => Value | Promise<Value>,
): Promise<Guarded<Value>> {
  const answer = workspaceId === undefined ? noWorkspace : watch.standingOf(workspaceId);
  // What is known needs no turn of the event loop.
  const { standing } = answer instanceof Promise ? await answer : answer;
  switch (standing) {
    case "active":
      return { skipped: false, value: await fn() };
    case "blocked":
      return { skipped: true, code: "owner_blocked", message: "The owner of the job's workspace is blocked." };
    case "gone":
      return { skipped: true, code: "workspace_gone", message: "The job's workspace is scheduled for deletion." };
  }
}

const noWorkspace = { standing: "active" } as const;

/**
 * The workspace of a job, from what its contract declares: an id, something that belongs to a workspace, or nothing.
 *
 * @returns undefined when the job has none, or when nobody linked the reference: such a job runs
 * @throws WorkspaceLookupError when Redis does not say
 */
export async function resolveWorkspaceId(
  watch: Pick<WorkspaceWatch, "workspaceOf">,
  declared: string | WorkspaceReference | undefined,
): Promise<string | undefined> {
  return typeof declared === "object" ? watch.workspaceOf(declared) : declared;
}
