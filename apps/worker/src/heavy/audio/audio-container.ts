import { open } from "node:fs/promises";

/** What ffmpeg is told that a file is: it reads it as nothing else. */
export type AudioContainer = "wav" | "mp3" | "ogg" | "flac" | "mov";

// Enough for every beginning below.
const headBytes = 12;

/**
 * What a file is by its first bytes, whatever it is called: undefined for what is none of these. ffmpeg would find out by itself, and reads
 * playlists and lists of files as well, which lead it to other files.
 */
export async function findContainer(path: string): Promise<AudioContainer | undefined> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return containerOf(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

function containerOf(head: Buffer): AudioContainer | undefined {
  const text = head.toString("latin1");
  if (/^(?:RIFF|RF64)....WAVE/s.test(text)) return "wav";
  if (text.startsWith("OggS")) return "ogg";
  if (text.startsWith("fLaC")) return "flac";
  if (text.startsWith("ftyp", 4)) return "mov";
  if (text.startsWith("ID3")) return "mp3";
  const [first = 0, second = 0] = head;
  // The 11 bits that every frame begins with, and a layer: without one it is AAC.
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0 ? "mp3" : undefined;
}

/** How ffmpeg and ffprobe open a file: as this container alone, and no other file for it. */
export function inputArgs(path: string, container: AudioContainer): string[] {
  return ["-protocol_whitelist", "file,pipe", "-format_whitelist", container, "-f", container, "-i", `file:${path}`];
}
