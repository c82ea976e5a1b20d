import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createRunProgram, readText } from "./run-program.ts";
import { isRunning } from "./test/is-running.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-program-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a script that stands in the place of espeak-ng. */
async function run(script: string, options: { signal?: AbortSignal; onText?: (text: string) => void } = {}) {
  await writeFile(join(folder, "espeak-ng"), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  const { signal = new AbortController().signal, onText } = options;
  return createRunProgram(`${folder}:/usr/bin:/bin`)({
    program: "espeak-ng",
    args: ["-v", "$(id); `id`", "*"],
    folder,
    input: "what it reads",
    signal,
    read: async (stdout) => {
      stdout.on("data", (chunk) => onText?.(String(chunk)));
      return readText(stdout, 1_000);
    },
  });
}

test("a program gets its arguments as they are, its input, and nothing of this process's environment", async () => {
  vi.stubEnv("SECRET_OF_OURS", "hunter2");
  const { output, exitCode, complaint } = await run('printf "%s|" "$@"; cat; env; echo trouble >&2; exit 3');
  vi.unstubAllEnvs();
  expect(output).toContain("-v|$(id); `id`|*|what it reads");
  expect(output).not.toContain("hunter2");
  expect({ exitCode, complaint }).toEqual({ exitCode: 3, complaint: "trouble\n" });
});

test("what it says is kept up to a limit, and read to its end", async () => {
  const { output, complaint } = await run("a=$(printf %0100000d 1); echo $a; echo $a >&2");
  expect([output.length, complaint.length]).toEqual([1_000, 16_384]);
});

test("the signal ends it within a second, and what it started as well", async () => {
  const cancelling = new AbortController();
  let pids: number[] = [];
  let cancelledAt = 0;
  const running = run("sleep 60 & echo $$ $!; wait", {
    signal: cancelling.signal,
    onText: (text) => {
      pids = text.trim().split(" ").map(Number);
      cancelledAt = performance.now();
      cancelling.abort(new Error("called off"));
    },
  });
  await expect(running).rejects.toThrow("called off");
  expect(performance.now() - cancelledAt).toBeLessThan(1_000);
  expect(pids).toHaveLength(2);
  // What it started is nobody's child any more: the system buries it a moment later.
  for (const pid of pids) await expect.poll(() => isRunning(pid)).toBe(false);
});

test("one that something else ends is tried again", async () => {
  await expect(run("kill -9 $$")).rejects.toMatchObject({ failureKind: "transient", code: "program_killed" });
});

test("one that is not there is a permanent failure that says what to install", async () => {
  const missing = createRunProgram(join(folder, "nowhere"))({
    program: "ffprobe",
    args: [],
    folder,
    signal: new AbortController().signal,
    read: (stdout) => readText(stdout, 1),
  });
  await expect(missing).rejects.toMatchObject({
    failureKind: "permanent",
    code: "program_missing",
    message: expect.stringMatching(/ffprobe.*apt-get install ffmpeg/),
  });
});
