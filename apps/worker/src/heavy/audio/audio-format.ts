import type { AudioOutput } from "@millrace/worker-config/contracts";

/** What a format is outside: the ending of a file's name and its media type. */
export const audioFormats: {
  readonly [Format in AudioOutput["format"]]: { readonly ending: string; readonly contentType: string };
} = {
  mp3: { ending: "mp3", contentType: "audio/mpeg" },
  opus: { ending: "ogg", contentType: "audio/ogg; codecs=opus" },
  wav: { ending: "wav", contentType: "audio/wav" },
  flac: { ending: "flac", contentType: "audio/flac" },
};

/** What ffmpeg is told about its output. */
export function outputArgs(to: AudioOutput): string[] {
  const args = [...codecArgs(to)];
  if (to.channels !== undefined) args.push("-ac", String(to.channels));
  if (to.sampleRate !== undefined) args.push("-ar", String(to.sampleRate));
  return args;
}

function codecArgs(to: AudioOutput): string[] {
  switch (to.format) {
    case "mp3":
      return ["-f", "mp3", "-c:a", "libmp3lame", "-b:a", `${to.bitrateKbps}k`];
    case "opus":
      return ["-f", "ogg", "-c:a", "libopus", "-b:a", `${to.bitrateKbps}k`];
    case "wav":
      return ["-f", "wav", "-c:a", "pcm_s16le"];
    case "flac":
      return ["-f", "flac", "-c:a", "flac"];
  }
}
