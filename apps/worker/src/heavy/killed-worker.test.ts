import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning } from "./test/is-running.ts";

test("of a worker that is killed, no program and no process stays behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-killed-"));
  // It does not look at its standard input, as ffmpeg does not: the end of that does not end it.
  await writeFile(join(folder, "ffmpeg"), "#!/bin/sh\nsleep 60 & echo $$ $!; wait\n", { mode: 0o700 });
  const worker = fork(new URL("./worker-to-kill.ts", import.meta.url), [folder], {
    execArgv: ["--conditions=millrace-source"],
  });
  try {
    const [pids] = await once(worker, "message");
    expect(await Promise.all(pids.map(isRunning))).toEqual([true, true, true]);
    worker.kill("SIGKILL");
    await expect.poll(() => Promise.all(pids.map(isRunning)), { timeout: 10_000 }).toEqual([false, false, false]);
  } finally {
    worker.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
});
