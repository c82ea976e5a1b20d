import { expect, test } from "vitest";
import { cleanUp, freshPrefix, openDirectory, openWatch } from "../test/directories.ts";
import { resolveWorkspaceId, WorkspaceLookupError, type WorkspaceReference, withBlockedOwnerGuard } from "./index.ts";

cleanUp();

const prefix = freshPrefix();

/** A directory with one workspace of each standing, each reachable through an integration of its name. */
async function fill(): Promise<void> {
  const directory = openDirectory(prefix);
  for (const id of ["active", "blocked", "gone"]) {
    await directory.assignWorkspace(id, `owner-of-${id}`);
    await directory.linkWorkspace({ kind: "integration", id }, id);
  }
  await directory.blockOwner("owner-of-blocked");
  await directory.scheduleWorkspaceDeletion("gone");
}

const integration = (id: string): WorkspaceReference => ({ kind: "integration", id });

test.each<[string, string | WorkspaceReference | undefined, string]>([
  ["no workspace", undefined, "ran"],
  ["a workspace", "active", "ran"],
  ["a workspace nobody told about", "unheard-of", "ran"],
  ["an empty id, which nobody can have told about", "", "ran"],
  ["something of a workspace", integration("active"), "ran"],
  ["something that nobody linked", integration("unheard-of"), "ran"],
  ["something with the id of another kind", { kind: "import", id: "blocked" }, "ran"],
  ["a workspace whose owner is blocked", "blocked", "owner_blocked"],
  ["something of a workspace whose owner is blocked", integration("blocked"), "owner_blocked"],
  ["a workspace scheduled for deletion", "gone", "workspace_gone"],
  ["something of a workspace scheduled for deletion", integration("gone"), "workspace_gone"],
])("a job that declares %s: %j → %s", async (_, declared, expected) => {
  await fill();
  const watch = openWatch(prefix);
  await watch.ready;
  let runs = 0;
  const guarded = await withBlockedOwnerGuard(watch, await resolveWorkspaceId(watch, declared), () => {
    runs += 1;
    return "ran";
  });
  expect(guarded.skipped ? guarded.code : guarded.value).toBe(expected);
  expect(runs).toBe(guarded.skipped ? 0 : 1);
});

test.each<[string, string | WorkspaceReference | undefined, "run" | "wait"]>([
  ["no workspace", undefined, "run"],
  ["a workspace", "active", "wait"],
  ["something of a workspace", integration("active"), "wait"],
])("a job that declares %s, %j, while the directory does not answer, has to %s", async (_, declared, expected) => {
  const watch = openWatch(prefix);
  watch.close();
  let runs = 0;
  const guarding = resolveWorkspaceId(watch, declared).then((workspaceId) =>
    withBlockedOwnerGuard(watch, workspaceId, () => {
      runs += 1;
    }),
  );
  if (expected === "run") await guarding;
  else await expect(guarding).rejects.toThrow(WorkspaceLookupError);
  expect(runs).toBe(expected === "run" ? 1 : 0);
});

test("what is thrown by the work itself comes out as it is", async () => {
  const watch = openWatch(prefix);
  const broken = new Error("broken");
  const work = withBlockedOwnerGuard(watch, undefined, () => Promise.reject(broken));
  await expect(work).rejects.toBe(broken);
});

test("why a job is skipped is said for people, without the names of workspace and owner", async () => {
  await fill();
  const watch = openWatch(prefix);
  expect(await withBlockedOwnerGuard(watch, "blocked", () => {})).toEqual({
    skipped: true,
    code: "owner_blocked",
    message: "The owner of the job's workspace is blocked.",
  });
  expect(await withBlockedOwnerGuard(watch, "gone", () => {})).toEqual({
    skipped: true,
    code: "workspace_gone",
    message: "The job's workspace is scheduled for deletion.",
  });
});
