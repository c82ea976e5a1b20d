import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { createExtractDocumentText } from "./extract-document-text.ts";
import { createGenerateReport } from "./generate-report.ts";
import { createRecognizeText, type RecognizeTextParts } from "./recognize-text.ts";
import type { RunProgram } from "./run-program.ts";
import { createSynthesizeSpeech } from "./synthesize-speech.ts";
import type { DocumentLimits } from "./tasks/document.ts";
import { createTranscodeAudio } from "./transcode-audio.ts";
import { createTransformImage } from "./transform-image.ts";

export interface HeavyServices extends RecognizeTextParts, DocumentLimits {
  readonly runProgram: RunProgram;
  /** As HEAVY_MAX_AUDIO_SECONDS. */
  readonly maxAudioSeconds: number;
  /** How long the reading of one document may take. */
  readonly maxDocumentMs: number;
  /** The largest file that the store takes. */
  readonly maxOutputBytes: number;
}

/** One entry per action of the contract: the compiler asks for a missing one. */
export function heavyHandlers(services: HeavyServices): HandlersOf<typeof heavyContract> {
  const { inWorkFolder, runTask, runImageTask, maxPixels, maxInflatedBytes, maxPages, maxTextBytes } = services;
  const { runProgram, maxOutputBytes, maxAudioSeconds, maxDocumentMs } = services;
  const documentLimits = { maxInflatedBytes, maxPages, maxTextBytes };
  const audioLimits = { maxSeconds: maxAudioSeconds, maxOutputBytes };
  return {
    transformImage: createTransformImage(inWorkFolder, runImageTask, maxPixels),
    extractDocumentText: createExtractDocumentText(inWorkFolder, runTask, documentLimits, maxDocumentMs),
    recognizeText: createRecognizeText(services),
    generateReport: createGenerateReport(inWorkFolder, runTask, maxOutputBytes),
    transcodeAudio: createTranscodeAudio(inWorkFolder, runProgram, audioLimits),
    synthesizeSpeech: createSynthesizeSpeech(inWorkFolder, runProgram, audioLimits),
  };
}
