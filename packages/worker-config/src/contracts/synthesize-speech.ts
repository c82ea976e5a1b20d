import { z } from "zod";
import { audioOutputSchema } from "./audio-output.ts";
import { fileReferenceSchema } from "./file-reference.ts";
import { belonging, longWork, output } from "./heavy-action.ts";

export const synthesizeSpeech = {
  ...longWork,
  data: z.object({
    /** Plain text: markup is spoken, not followed. */
    text: z
      .string()
      .max(10_000)
      .regex(/[\p{L}\p{N}]/u, "expected something that can be spoken"),
    /** A language that `espeak-ng --voices` lists. Defaults to `en`. */
    voice: z
      .string()
      .max(35)
      .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, "expected a language of `espeak-ng --voices`, such as de or en-gb")
      .default("en"),
    wordsPerMinute: z.int().min(80).max(450).default(175),
    /** 0 is the lowest, 99 the highest. Defaults to 50. */
    pitch: z.int().min(0).max(99).default(50),
    /** Another format than wav, or other channels or another sample rate, needs ffmpeg beside espeak-ng. Defaults to wav. */
    to: audioOutputSchema.default({ format: "wav" }),
    ...output,
    ...belonging,
  }),
  result: z.object({ file: fileReferenceSchema, durationMs: z.int() }),
  example: { text: "Your report is ready.", voice: "en" },
};
