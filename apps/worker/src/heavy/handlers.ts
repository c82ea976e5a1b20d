import type { heavyContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import type { RunTask } from "./task-pool.ts";
import type { HeavyTasks } from "./tasks.ts";
import { createTransformImage } from "./transform-image.ts";
import type { InWorkFolder } from "./work-folder.ts";

export interface HeavyServices {
  readonly inWorkFolder: InWorkFolder;
  readonly runTask: RunTask<HeavyTasks>;
  /** As HEAVY_MAX_PIXELS. */
  readonly maxPixels: number;
}

/** One entry per action of the contract: the compiler asks for a missing one. */
export function heavyHandlers({ inWorkFolder, runTask, maxPixels }: HeavyServices): HandlersOf<typeof heavyContract> {
  return {
    transformImage: createTransformImage(inWorkFolder, runTask, maxPixels),
  };
}
