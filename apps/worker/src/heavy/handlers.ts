import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { createGenerateReport } from "./generate-report.ts";
import type { RunProgram } from "./run-program.ts";
import { createSynthesizeSpeech } from "./synthesize-speech.ts";
import type { RunTask } from "./task-pool.ts";
import type { HeavyTasks } from "./tasks.ts";
import { createTranscodeAudio } from "./transcode-audio.ts";
import { createTransformImage } from "./transform-image.ts";
import type { InWorkFolder } from "./work-folder.ts";

export interface HeavyServices {
  readonly inWorkFolder: InWorkFolder;
  readonly runTask: RunTask<HeavyTasks>;
  readonly runProgram: RunProgram;
  /** As HEAVY_MAX_PIXELS. */
  readonly maxPixels: number;
  /** The largest file that the store takes. */
  readonly maxOutputBytes: number;
  /** As HEAVY_MAX_AUDIO_SECONDS. */
  readonly maxAudioSeconds: number;
}

/** One entry per action of the contract: the compiler asks for a missing one. */
export function heavyHandlers({
  inWorkFolder,
  runTask,
  runProgram,
  maxPixels,
  maxOutputBytes,
  maxAudioSeconds,
}: HeavyServices): HandlersOf<typeof heavyContract> {
  const audioLimits = { maxSeconds: maxAudioSeconds, maxOutputBytes };
  return {
    transformImage: createTransformImage(inWorkFolder, runTask, maxPixels),
    generateReport: createGenerateReport(inWorkFolder, runTask, maxOutputBytes),
    transcodeAudio: createTranscodeAudio(inWorkFolder, runProgram, audioLimits),
    synthesizeSpeech: createSynthesizeSpeech(inWorkFolder, runProgram, audioLimits),
  };
}
