export { type Guarded, resolveWorkspaceId, withBlockedOwnerGuard } from "./blocked-owner-guard.ts";
export { WorkspaceLookupError } from "./lookup-error.ts";
export { type Standing, type WatchOptions, type WorkspaceWatch, watchWorkspaces } from "./watch-workspaces.ts";
export { createWorkspaceDirectory, type WorkspaceDirectory } from "./workspace-directory.ts";
export type { WorkspaceReference } from "./workspace-ids.ts";
