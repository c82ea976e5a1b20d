import { z } from "zod";
import { audioOutputSchema } from "./audio-output.ts";
import { fileIdSchema } from "./file-id.ts";
import { fileReferenceSchema } from "./file-reference.ts";
import { belonging, longWork, output } from "./heavy-action.ts";

/** What the example works on, as `exampleImageFileId`. */
export const exampleSoundFileId = "file_ffffffff-ffff-8000-8000-000000000003";

export const transcodeAudio = {
  ...longWork,
  data: z.object({
    /** wav, mp3, ogg (Vorbis, Opus, FLAC), flac or m4a, whatever it is called. */
    fileId: fileIdSchema,
    to: audioOutputSchema,
    /** Title, artist and the like; also where it was recorded. Defaults to false. */
    keepMetadata: z.boolean().default(false),
    ...output,
    ...belonging,
  }),
  result: z.object({ file: fileReferenceSchema, durationMs: z.int() }),
  example: { fileId: exampleSoundFileId, to: { format: "opus" as const, bitrateKbps: 32 } },
};
