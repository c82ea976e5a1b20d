import type { Sharp } from "sharp";
import { openImage, refuseUnreadable } from "./open-image.ts";
import { type Task, TaskRefusal } from "./task.ts";

export interface TransformImageInput {
  readonly from: string;
  readonly to: string;
  readonly format?: Format | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly fit: "inside" | "outside" | "cover" | "contain" | "fill";
  readonly allowEnlargement: boolean;
  readonly quality?: number | undefined;
  readonly keepMetadata: boolean;
  readonly animated: boolean;
  /** Of the image and of what is made of it, all frames together. */
  readonly maxPixels: number;
}

type Format = "jpeg" | "png" | "webp" | "avif";

export interface TransformedImage {
  readonly format: Format;
  readonly width: number;
  /** Of one frame. */
  readonly height: number;
  readonly frames: number;
}

/**
 * Refuses with `image_unreadable`, `image_too_large`, `image_too_many_frames`, or `output_too_large`. It reports the half of its way only: the
 * library says nothing before it is done.
 */
export const transformImage: Task<TransformImageInput, TransformedImage> = async (input, { progress }) => {
  const { from, to, width, height, fit, allowEnlargement, maxPixels } = input;
  const image = await openImage(from, { maxPixels, allFrames: input.animated });
  progress(10);
  checkOutput(image, input);
  const format = input.format ?? image.format ?? "png";
  let pipeline = image.pipeline.autoOrient();
  if (width !== undefined || height !== undefined)
    pipeline = pipeline.resize({ width, height, fit, withoutEnlargement: !allowEnlargement });
  if (format === "jpeg") pipeline = pipeline.flatten({ background: "#ffffff" });
  if (input.keepMetadata) pipeline = pipeline.keepMetadata();
  const made = await encode(pipeline, format, input.quality).toFile(to).catch(refuseUnreadable);
  progress(95);
  const frames = made.pages ?? 1;
  return { format, width: made.width, height: made.pageHeight ?? made.height, frames };
};

function encode(pipeline: Sharp, format: Format, quality: number | undefined): Sharp {
  const options = quality === undefined ? {} : { quality };
  switch (format) {
    case "jpeg":
      return pipeline.jpeg({ ...options, mozjpeg: false });
    case "png":
      return pipeline.png();
    case "webp":
      return pipeline.webp(options);
    case "avif":
      // With the library's own 4 a large image takes most of a minute, during which no signal reaches it.
      return pipeline.avif({ ...options, effort: 2 });
  }
}

/** What it will be is known before a pixel of it is made. */
function checkOutput(image: { width: number; height: number; frames: number }, wanted: TransformImageInput): void {
  const [width, height] = sidesOf(image, wanted);
  if (width > 16_383 || height > 16_383 || width * height * image.frames > wanted.maxPixels) {
    throw new TaskRefusal(
      "output_too_large",
      `Expected an image of at most ${wanted.maxPixels} pixels (HEAVY_MAX_PIXELS) and 16383 on a side, asked was ${Math.round(width)} × ${Math.round(height)} in ${image.frames} frame(s).`,
    );
  }
}

function sidesOf(
  { width, height }: { width: number; height: number },
  { width: wantedWidth, height: wantedHeight, fit, allowEnlargement }: TransformImageInput,
): [number, number] {
  if (wantedWidth === undefined && wantedHeight === undefined) return [width, height];
  const across = (wantedWidth ?? Number.NaN) / width;
  const down = (wantedHeight ?? Number.NaN) / height;
  const isBoth = wantedWidth !== undefined && wantedHeight !== undefined;
  if (isBoth && fit !== "inside" && fit !== "outside") return [wantedWidth, wantedHeight];
  const scale = isBoth ? (fit === "inside" ? Math.min(across, down) : Math.max(across, down)) : across || down;
  const allowed = allowEnlargement ? scale : Math.min(scale, 1);
  return [width * allowed, height * allowed];
}
