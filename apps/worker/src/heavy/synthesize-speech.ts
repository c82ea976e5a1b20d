import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { audioFormats } from "./audio/audio-format.ts";
import { type AudioLimits, convertAudio, outputTooLarge, tooLong } from "./audio/convert-audio.ts";
import { speak } from "./audio/speak.ts";
import type { RunProgram } from "./run-program.ts";
import type { InWorkFolder } from "./work-folder.ts";

type SynthesizeSpeech = HandlersOf<typeof heavyContract>["synthesizeSpeech"];

// What espeak-ng makes: one channel of 22,050 samples a second, two bytes each.
const spokenBytesPerSecond = 44_100;

/** Reads a text out, with espeak-ng; what is to be no plain wav goes through ffmpeg. */
export function createSynthesizeSpeech(
  inWorkFolder: InWorkFolder,
  runProgram: RunProgram,
  limits: AudioLimits,
): SynthesizeSpeech {
  const { maxSeconds, maxOutputBytes } = limits;
  return ({ to, name, ttlMs, ...speech }, context) =>
    inWorkFolder(context, async (folder) => {
      const spoken = folder.path("spoken");
      const isDone = to.format === "wav" && to.channels === undefined && to.sampleRate === undefined;
      const limit = isDone
        ? { maxBytes: maxOutputBytes, tooLarge: () => outputTooLarge(maxOutputBytes) }
        : { maxBytes: maxSeconds * spokenBytesPerSecond, tooLarge: () => tooLong(maxSeconds) };
      const spokenMs = await speak(runProgram, speech, { path: spoken, ...limit }, context.signal);
      void context.progress(isDone ? 95 : 50);
      const { ending, contentType } = audioFormats[to.format];
      const made = { name: name ?? `speech.${ending}`, contentType, ttlMs };
      if (isDone) return { durationMs: spokenMs, file: await folder.bringOut(spoken, made) };
      const path = folder.path("out");
      const halfway = { signal: context.signal, progress: (percent: number) => context.progress(50 + percent / 2) };
      const conversion = { from: spoken, path, to, keepMetadata: true };
      const durationMs = await convertAudio(runProgram, conversion, limits, halfway);
      return { durationMs, file: await folder.bringOut(path, made) };
    });
}
