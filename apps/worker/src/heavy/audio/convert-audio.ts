import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { AudioOutput } from "@millrace/worker-config/contracts";
import { type JobContext, PermanentError, TransientError } from "@millrace/worker-host";
import type { RunProgram } from "../run-program.ts";
import { isFolderFull, tempFolderFull } from "../temp-folder-full.ts";
import { findContainer, inputArgs } from "./audio-container.ts";
import { outputArgs } from "./audio-format.ts";
import { probeAudio } from "./probe-audio.ts";

export interface AudioLimits {
  /** The longest sound, in seconds. */
  readonly maxSeconds: number;
  /** The largest file that is made. */
  readonly maxOutputBytes: number;
}

export interface Conversion {
  readonly from: string;
  readonly path: string;
  readonly to: AudioOutput;
  readonly keepMetadata: boolean;
}

// Of its own time on a processor, should this process die and nobody be left to end it: as long as an attempt may take.
const mostCpuSeconds = 300;
const mostAllocatedBytes = 256 * 1_024 * 1_024;

/**
 * Makes another sound file of a sound file: of its first sound, without pictures.
 *
 * @returns how long it is, in milliseconds
 * @throws PermanentError `audio_unreadable`, `audio_missing`, `audio_too_long`, `output_too_large`, `encoder_missing`, `program_missing`
 * @throws TransientError `temp_folder_full`, `program_starved`, `program_killed`
 */
export async function convertAudio(
  runProgram: RunProgram,
  { from, path, to, keepMetadata }: Conversion,
  { maxSeconds, maxOutputBytes }: AudioLimits,
  { signal, progress }: Pick<JobContext, "signal" | "progress">,
): Promise<number> {
  const container = await findContainer(from);
  if (container === undefined)
    throw new PermanentError("Expected a wav, mp3, ogg, flac or m4a file, the file begins like none of them.", {
      code: "audio_unreadable",
    });
  const claimedSeconds = await probeAudio(runProgram, from, container, signal);
  if (claimedSeconds > maxSeconds) throw tooLong(maxSeconds);
  const { exitCode, output, complaint } = await runProgram({
    program: "ffmpeg",
    args: [
      ...["-nostdin", "-hide_banner", "-loglevel", "error", "-progress", "pipe:1"],
      ...["-timelimit", String(mostCpuSeconds), "-max_alloc", String(mostAllocatedBytes)],
      ...inputArgs(from, container),
      ...["-map", "0:a:0", "-vn", "-sn", "-dn", "-threads", "1"],
      ...(keepMetadata ? [] : ["-map_metadata", "-1", "-map_chapters", "-1"]),
      // A little more than is allowed, so that too much is seen and not cut off in silence.
      ...["-t", String(maxSeconds + 1), "-fs", String(maxOutputBytes + 1)],
      ...outputArgs(to),
      `file:${path}`,
    ],
    folder: dirname(path),
    signal,
    read: (stdout) => followProgress(stdout, claimedSeconds, progress),
  });
  // It ends with 0 as well when only its last blocks found no room.
  if (isFolderFull(complaint)) throw tempFolderFull();
  if (exitCode !== 0) throw explain(exitCode, complaint, to.format);
  if (output > maxSeconds * 1_000) throw tooLong(maxSeconds);
  if ((await stat(path)).size > maxOutputBytes) throw outputTooLarge(maxOutputBytes);
  if (output === 0) throw new PermanentError("The file holds no sound.", { code: "audio_missing" });
  return output;
}

/** @param maxBytes as FILE_STORE_MAX_BYTES */
export function outputTooLarge(maxBytes: number): PermanentError {
  return new PermanentError(
    `The sound file would have more than ${maxBytes} bytes (FILE_STORE_MAX_BYTES). Choose a format or a bitrate that takes less.`,
    { code: "output_too_large" },
  );
}

export function tooLong(maxSeconds: number): PermanentError {
  return new PermanentError(
    `Expected a sound of at most ${maxSeconds} seconds (HEAVY_MAX_AUDIO_SECONDS), this is longer.`,
    { code: "audio_too_long" },
  );
}

/** @returns how much has been made at the end, in milliseconds */
async function followProgress(stdout: Readable, seconds: number, progress: JobContext["progress"]): Promise<number> {
  let made = 0;
  let told = 0;
  for await (const line of createInterface({ input: stdout })) {
    const microseconds = /^out_time_us=(\d+)$/.exec(line)?.[1];
    if (microseconds === undefined) continue;
    made = Number(microseconds) / 1_000;
    // Of a sound that does not say how long it is, nobody knows the share.
    if (seconds === 0) continue;
    // What is left is the way into the store.
    const percent = Math.min(95, Math.floor((made / 1_000 / seconds) * 95));
    if (percent <= told) continue;
    told = percent;
    void progress(percent);
  }
  return Math.round(made);
}

/** ffmpeg catches a signal to end, and leaves with this. */
const endedBySignal = 255;

function explain(exitCode: number, complaint: string, format: string): Error {
  // A service manager that stops the worker tells ffmpeg as well. It says nothing of the file.
  if (exitCode === endedBySignal)
    return new TransientError("ffmpeg was told to end before it was done.", { code: "program_killed" });
  // A file that claims too much meets -max_alloc with the same words: tried in vain, which is better than a whole one that is given up.
  if (/Cannot allocate memory|Too many open files/.test(complaint))
    return new TransientError("ffmpeg found too little memory, or too few files that it may open.", {
      code: "program_starved",
    });
  if (complaint.includes("Unknown encoder"))
    return new PermanentError(`This ffmpeg cannot write ${format}. Install a complete one.`, {
      code: "encoder_missing",
    });
  return new PermanentError(`ffmpeg could not read the file to its end (exit code ${exitCode}).`, {
    code: "audio_unreadable",
  });
}
