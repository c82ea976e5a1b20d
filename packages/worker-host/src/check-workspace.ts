import type { WorkspaceReference } from "@millrace/worker-config/contracts";
import type { JobOutcome } from "./job-outcome.ts";

/** What the host asks of the directory of workspaces (`@millrace/workspaces`). */
export interface WorkspaceStandings {
  /** Nothing when the directory knows no such thing. Throws when it cannot be asked. */
  workspaceOf(reference: WorkspaceReference): Promise<string | undefined>;
  /** A workspace that nobody told the directory about is active. Throws when it cannot be asked. */
  standingOf(
    workspaceId: string,
  ): Promise<{ readonly standing: "active" | "gone" } | { readonly standing: "blocked"; readonly ownerId: string }>;
}

/**
 * The workspace that a contract's `workspaceId` names. None is an answer as well: such a job runs for nobody in particular.
 *
 * @throws what the directory throws when it cannot be asked: the job is deferred
 */
export async function resolveWorkspaceId(
  workspaces: WorkspaceStandings,
  declared: string | WorkspaceReference | undefined,
): Promise<string | undefined> {
  return typeof declared === "object" ? workspaces.workspaceOf(declared) : declared;
}

/**
 * Runs `run` unless the workspace is gone or its owner is blocked: then the job is skipped, which acknowledges it. Without a workspace it
 * runs.
 */
export async function withBlockedOwnerGuard(
  workspaces: WorkspaceStandings,
  workspaceId: string | undefined,
  run: () => Promise<JobOutcome>,
): Promise<JobOutcome> {
  if (workspaceId === undefined) return run();
  switch ((await workspaces.standingOf(workspaceId)).standing) {
    case "blocked":
      return { outcome: "skipped", code: "owner_blocked", message: "The owner of the job's workspace is blocked." };
    case "gone":
      return { outcome: "skipped", code: "workspace_gone", message: "The job's workspace is being deleted." };
    case "active":
      return run();
  }
}
