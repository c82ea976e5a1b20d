import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { audioFormats } from "./audio/audio-format.ts";
import { type AudioLimits, convertAudio } from "./audio/convert-audio.ts";
import type { RunProgram } from "./run-program.ts";
import { type InWorkFolder, renamed } from "./work-folder.ts";

type TranscodeAudio = HandlersOf<typeof heavyContract>["transcodeAudio"];

/** Makes another sound file of a sound file, with ffmpeg. */
export function createTranscodeAudio(
  inWorkFolder: InWorkFolder,
  runProgram: RunProgram,
  limits: AudioLimits,
): TranscodeAudio {
  return ({ fileId, to, keepMetadata, name, ttlMs }, context) =>
    inWorkFolder(context, async (folder) => {
      const { path: from, file } = await folder.bringIn(fileId);
      const path = folder.path("out");
      const durationMs = await convertAudio(runProgram, { from, path, to, keepMetadata }, limits, context);
      const { ending, contentType } = audioFormats[to.format];
      const made = { name: name ?? renamed(file.name, ending), contentType, ttlMs };
      return { durationMs, file: await folder.bringOut(path, made) };
    });
}
