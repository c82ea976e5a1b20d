import { spawn } from "node:child_process";

// The signals are those that a service manager or a terminal sends to everything at once: this is to be there when the worker is killed.
const script = 'trap "" HUP INT TERM; read -r _; kill -9 -"$1"';

/**
 * Sees to it that a process group ends when this process does, even by SIGKILL, which lets nobody clean up: a shell waits for the end of a
 * pipe that only this process holds open, and then kills the group. Linux could say the same of a parent's death; this holds on every Unix.
 *
 * Where there is no /bin/sh, the group outlives a killed worker: whoever starts it bounds its time as well.
 *
 * @param group the id of the process that leads it
 * @returns ends the watch, once the group has ended
 */
export function endWithWorker(group: number): () => void {
  const watch = spawn("/bin/sh", ["-c", script, "sh", String(group)], {
    env: {},
    // Out of the worker's own group: a kill of all of that leaves it to its task.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watch.on("error", () => {});
  return () => {
    watch.kill("SIGKILL");
  };
}
