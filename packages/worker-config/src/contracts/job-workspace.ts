import type { QueueContract } from "./define-queue.ts";

/**
 * The workspace that a job's data names, by its contract. Nothing where it names none, is not valid, or names something that only stands for a
 * workspace: whose that is, the directory knows.
 *
 * @param data the payload as it came or is stored, unchecked
 */
export function workspaceOf(contract: QueueContract, action: string, data: unknown): string | undefined {
  if (!Object.hasOwn(contract.actions, action)) return undefined;
  const definition = contract.actions[action];
  const parsed = definition?.data.safeParse(data);
  const named = parsed?.success ? definition?.workspaceId?.(parsed.data) : undefined;
  return typeof named === "string" ? named : undefined;
}
