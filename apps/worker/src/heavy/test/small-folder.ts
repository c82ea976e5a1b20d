import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder with room for so many bytes; undefined where this user may mount nothing. `remove` ends it. */
export async function openSmallFolder(
  bytes: number,
): Promise<{ readonly path: string; readonly remove: () => Promise<void> } | undefined> {
  const path = await mkdtemp(join(tmpdir(), "millrace-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    await rm(path, { recursive: true });
    return undefined;
  }
  const remove = async () => {
    execFileSync("umount", ["--lazy", path]);
    await rm(path, { recursive: true });
  };
  return { path, remove };
}
