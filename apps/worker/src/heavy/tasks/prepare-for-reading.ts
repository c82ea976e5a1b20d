import { openImage, refuseUnreadable } from "./open-image.ts";
import type { Task } from "./task.ts";

export interface PrepareForReadingInput {
  readonly from: string;
  readonly to: string;
  readonly maxPixels: number;
}

// A4 at 300 dots per inch is 3508 high: more dots cost time and make no letter clearer.
const longestSide = 5_000;

/** An image as text recognition takes it: upright, grey, on white, a PNG. Refuses as `openImage`. */
export const prepareForReading: Task<PrepareForReadingInput, null> = async ({ from, to, maxPixels }) => {
  const { pipeline } = await openImage(from, { maxPixels, allFrames: false });
  await pipeline
    .autoOrient()
    .flatten({ background: "#ffffff" })
    .resize({ width: longestSide, height: longestSide, fit: "inside", withoutEnlargement: true })
    .greyscale()
    // Or it guesses, and says so on the console.
    .withMetadata({ density: 300 })
    .png({ compressionLevel: 1 })
    .toFile(to)
    .catch(refuseUnreadable);
  return null;
};
