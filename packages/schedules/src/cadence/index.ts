/** The pure door: when something is due. It needs zod and nothing else, opens nothing and reads no environment. */
export {
  type Cadence,
  type CadenceFields,
  cadenceSchema,
  cadenceShape,
  nextRun,
  refineCadence,
  runsBetween,
  runsFrom,
  shortestGapMs,
  toCadence,
} from "./cadence.ts";
export { type DueTime, previewRuns, toDueTime } from "./preview.ts";
