import type { QueueContract } from "@millrace/worker-config/contracts";

/**
 * Whether a job is the run's own to see or to ask for: it names the same workspace, or both name none. One that names something which only
 * stands for a workspace is nobody's here.
 *
 * @param data the payload, unchecked; one that is not valid is nobody's
 */
export function isOfWorkspace(
  { actions }: QueueContract,
  action: string,
  data: unknown,
  workspaceId: string | undefined,
): boolean {
  const definition = Object.hasOwn(actions, action) ? actions[action] : undefined;
  const parsed = definition?.data.safeParse(data);
  return parsed?.success === true && definition?.workspaceId?.(parsed.data) === workspaceId;
}
