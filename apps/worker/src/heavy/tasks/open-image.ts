import sharp, { type Sharp } from "sharp";
import { isMachineFault } from "./machine-fault.ts";
import { TaskRefusal } from "./task.ts";

// A thread per job is all that the machine has for it: without this each one would start as many again as there are cores.
sharp.concurrency(1);
sharp.cache(false);
// By what the bytes say. SVG, PDF and what a scientist's scanner writes are programs of their own, and open files by themselves.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: [
    "VipsForeignLoadJpeg",
    "VipsForeignLoadPng",
    "VipsForeignLoadWebp",
    "VipsForeignLoadNsgif",
    "VipsForeignLoadHeif",
    "VipsForeignLoadTiff",
  ],
});

const mostFrames = 500;

export interface OpenedImage {
  readonly pipeline: Sharp;
  /** The file's own, where it can be written as well. */
  readonly format: "jpeg" | "png" | "webp" | "avif" | undefined;
  /** Of one frame, upright. */
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

/**
 * Opens an image by its content and knows its size before a pixel is decoded.
 *
 * Refuses with `image_unreadable`, `image_too_large`, `image_too_many_frames`.
 */
export async function openImage(
  path: string,
  { maxPixels, allFrames }: { readonly maxPixels: number; readonly allFrames: boolean },
): Promise<OpenedImage> {
  // The limit counts all frames that are read; a file that is cut off is an error, a harmless flaw is not.
  const options = { limitInputPixels: maxPixels, failOn: "error", sequentialRead: true } as const;
  const {
    pages = 1,
    format,
    compression,
    autoOrient,
  } = await sharp(path, { ...options, limitInputPixels: false })
    .metadata()
    .catch((error: unknown) => {
      if (isMachineFault(error)) throw error;
      throw new TaskRefusal(
        "image_unreadable",
        "Expected a jpeg, png, webp, avif, gif or tiff image, the content is none, is damaged or was cut off.",
      );
    });
  const frames = allFrames ? pages : 1;
  const { width, height } = autoOrient;
  if (frames > mostFrames)
    throw new TaskRefusal("image_too_many_frames", `Expected at most ${mostFrames} frames, the image has ${frames}.`);
  if (width * height * frames > maxPixels)
    throw new TaskRefusal(
      "image_too_large",
      `Expected at most ${maxPixels} pixels (HEAVY_MAX_PIXELS), the image has ${width} × ${height} in ${frames} frame(s).`,
    );
  return {
    pipeline: sharp(path, { ...options, pages: allFrames ? -1 : 1 }),
    format: writable(format, compression),
    width,
    height,
    frames,
  };
}

/** For what fails while the pixels are read and the output is written. */
export function refuseUnreadable(error: unknown): never {
  if (isMachineFault(error)) throw error;
  throw new TaskRefusal("image_unreadable", "Expected an image, the file is damaged or was cut off.");
}

function writable(format: string, compression: string | undefined): OpenedImage["format"] {
  if (format === "heif") return compression === "av1" ? "avif" : undefined;
  return format === "jpeg" || format === "png" || format === "webp" ? format : undefined;
}
