import { readFile } from "node:fs/promises";

/** Whether there is such a process. A zombie runs no more. */
export async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return status !== undefined && !/^\d+ \(.*\) Z/.test(status);
}
