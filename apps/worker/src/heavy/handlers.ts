import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { createExtractDocumentText } from "./extract-document-text.ts";
import { createRecognizeText, type RecognizeTextParts } from "./recognize-text.ts";
import type { DocumentLimits } from "./tasks/document.ts";
import { createTransformImage } from "./transform-image.ts";

export interface HeavyServices extends RecognizeTextParts, DocumentLimits {}

/** One entry per action of the contract: the compiler asks for a missing one. */
export function heavyHandlers(services: HeavyServices): HandlersOf<typeof heavyContract> {
  const { inWorkFolder, runTask, runImageTask, maxPixels, maxInflatedBytes, maxPages, maxTextBytes } = services;
  return {
    transformImage: createTransformImage(inWorkFolder, runImageTask, maxPixels),
    extractDocumentText: createExtractDocumentText(inWorkFolder, runTask, { maxInflatedBytes, maxPages, maxTextBytes }),
    recognizeText: createRecognizeText(services),
  };
}
