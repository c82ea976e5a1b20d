import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { RunTask } from "./task-pool.ts";
import type { ImageTasks } from "./tasks.ts";
import { type InWorkFolder, renamed } from "./work-folder.ts";

type TransformImage = HandlersOf<typeof heavyContract>["transformImage"];

/**
 * Makes another image of an image.
 *
 * @param maxPixels of the image and of what is made of it, all frames together
 */
export function createTransformImage(
  inWorkFolder: InWorkFolder,
  runImageTask: RunTask<ImageTasks>,
  maxPixels: number,
): TransformImage {
  return ({ fileId, name, ttlMs, ...wanted }, context) =>
    inWorkFolder(context, async (folder) => {
      const { path, file } = await folder.bringIn(fileId);
      const made = folder.path("out");
      const { format, ...size } = await runImageTask(
        "transformImage",
        { ...wanted, from: path, to: made, maxPixels },
        context,
      );
      const described = { name: name ?? renamed(file.name, format), contentType: `image/${format}`, ttlMs };
      return { ...size, file: await folder.bringOut(made, described) };
    });
}
