import { dirname } from "node:path";
import { PermanentError } from "@millrace/worker-host";
import { z } from "zod";
import { type RunProgram, readText } from "../run-program.ts";
import { type AudioContainer, inputArgs } from "./audio-container.ts";

// ffprobe writes numbers as text, and leaves out what it does not know.
const answerSchema = z.object({
  streams: z.array(z.object({ codec_type: z.string().optional() })).default([]),
  format: z.object({ duration: z.coerce.number().optional() }).default({}),
});

const mostAnswer = 65_536;

/**
 * How long a sound file says that it is, in seconds: 0 where it does not say.
 *
 * @throws PermanentError `audio_unreadable`, `audio_missing`, `program_missing`
 */
export async function probeAudio(
  runProgram: RunProgram,
  path: string,
  container: AudioContainer,
  signal: AbortSignal,
): Promise<number> {
  const { exitCode, output } = await runProgram({
    program: "ffprobe",
    args: [
      ...["-hide_banner", "-loglevel", "error", "-of", "json"],
      ...["-select_streams", "a", "-show_entries", "format=duration:stream=codec_type"],
      ...inputArgs(path, container),
    ],
    folder: dirname(path),
    signal,
    read: (stdout) => readText(stdout, mostAnswer),
  });
  const answer = answerSchema.safeParse(exitCode === 0 ? parseJson(output) : undefined);
  if (!answer.success)
    throw new PermanentError(`The file is no ${names[container]} that can be read: it is damaged or something else.`, {
      code: "audio_unreadable",
    });
  if (answer.data.streams.length === 0) throw new PermanentError("The file holds no sound.", { code: "audio_missing" });
  return answer.data.format.duration ?? 0;
}

const names: { readonly [Container in AudioContainer]: string } = {
  wav: "wav",
  mp3: "mp3",
  ogg: "ogg",
  flac: "flac",
  mov: "m4a",
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
