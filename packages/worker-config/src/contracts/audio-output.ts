import { z } from "zod";

const channels = z.union([z.literal(1), z.literal(2)]).optional();
const sampleRate = z.literal([8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]).optional();

/** What a sound becomes. What is left out stays as the input has it, as far as the format can. */
export const audioOutputSchema = z.discriminatedUnion("format", [
  z.object({
    format: z.literal("mp3"),
    /** Defaults to 128. */
    bitrateKbps: z.literal([32, 48, 64, 96, 128, 160, 192, 256, 320]).default(128),
    channels,
    sampleRate,
  }),
  z.object({
    format: z.literal("opus"),
    /** In an ogg file. Defaults to 64. */
    bitrateKbps: z.int().min(8).max(256).default(64),
    channels,
    sampleRate: z.literal([8_000, 12_000, 16_000, 24_000, 48_000]).optional(),
  }),
  z.object({ format: z.literal("wav"), channels, sampleRate }),
  z.object({ format: z.literal("flac"), channels, sampleRate }),
]);

export type AudioOutput = z.output<typeof audioOutputSchema>;
