import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { PermanentError, TransientError } from "@millrace/worker-host";
import { endWithWorker } from "./end-with-worker.ts";

/** Each program and the Debian package that has it. */
const packages = { ffmpeg: "ffmpeg", ffprobe: "ffmpeg", "espeak-ng": "espeak-ng" } as const;

export interface ProgramRun<Output> {
  readonly program: keyof typeof packages;
  /** Handed over as they are: no shell reads them. */
  readonly args: readonly string[];
  /** The folder that it starts in, and its home. */
  readonly folder: string;
  /** What it reads from its standard input. Defaults to nothing. */
  readonly input?: string;
  readonly signal: AbortSignal;
  /** Takes the standard output to its end. Where it rejects, the program is ended. */
  readonly read: (stdout: Readable) => Promise<Output>;
}

export interface ProgramEnd<Output> {
  readonly exitCode: number;
  readonly output: Output;
  /** The beginning of its standard error. To be looked into and never passed on: it may quote what the program was given. */
  readonly complaint: string;
}

/**
 * Runs a program to its end, whatever that is. The signal ends it at once, and whatever it started itself; so does the end of this process,
 * however that comes. It gets nothing of this process's environment but the search path: its input may come from anybody.
 *
 * @throws PermanentError `program_missing`
 * @throws TransientError `program_killed` where something else ended it, such as a machine without memory
 */
export type RunProgram = <Output>(run: ProgramRun<Output>) => Promise<ProgramEnd<Output>>;

const mostComplaint = 16_384;

/** @param searchPath the folders in which programs are looked for, as in PATH */
export function createRunProgram(searchPath: string): RunProgram {
  return async ({ program, args, folder, input = "", signal, read }) => {
    signal.throwIfAborted();
    const child = spawn(program, args, {
      cwd: folder,
      env: { PATH: searchPath, HOME: folder, LC_ALL: "C.UTF-8" },
      // A process group of its own, which can be ended as a whole.
      detached: true,
      stdio: "pipe",
    });
    const kill = () => {
      if (child.pid !== undefined) killGroup(child.pid);
    };
    signal.addEventListener("abort", kill, { once: true });
    const endWatch = child.pid === undefined ? () => {} : endWithWorker(child.pid);
    // One that ends before it has read everything is no failure by itself: its exit code says.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const closed = new Promise<{ exitCode: number | null; killedBy: string | null }>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (exitCode, killedBy) => resolve({ exitCode, killedBy }));
    });
    const reading = read(child.stdout).catch((error: unknown) => {
      kill();
      throw error;
    });
    // All of them, whatever the first says: nothing may write to the folder any more when this is over.
    const [end, output, complaint] = await Promise.allSettled([closed, reading, readText(child.stderr, mostComplaint)]);
    endWatch();
    signal.removeEventListener("abort", kill);
    signal.throwIfAborted();
    if (end.status === "rejected") throw isAbsent(end.reason) ? programMissing(program) : end.reason;
    if (output.status === "rejected") throw output.reason;
    const { exitCode, killedBy } = end.value;
    if (exitCode === null)
      throw new TransientError(`${program} was ended by ${killedBy}. Has the machine enough memory?`, {
        code: "program_killed",
      });
    return { exitCode, output: output.value, complaint: complaint.status === "fulfilled" ? complaint.value : "" };
  };
}

/** The text of a stream to its end, of which no more than so many characters are kept. */
export async function readText(stream: Readable, mostCharacters: number): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8"))
    if (text.length < mostCharacters) text += String(chunk).slice(0, mostCharacters - text.length);
  return text;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself in this moment.
  }
}

function isAbsent(error: unknown): boolean {
  return Error.isError(error) && "code" in error && (error.code === "ENOENT" || error.code === "EACCES");
}

function programMissing(program: keyof typeof packages): PermanentError {
  return new PermanentError(
    `Expected the program ${program} in a folder of PATH where the heavy worker runs, found none. Install it (Debian: apt-get install ${packages[program]}) and enqueue the job again.`,
    { code: "program_missing" },
  );
}
