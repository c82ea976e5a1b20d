import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether a program is on this machine: tests that need one hold `program_missing` where it is not. */
export function hasProgram(program: "ffmpeg" | "espeak-ng"): boolean {
  return spawnSync(program, ["--version"]).error === undefined;
}

/** A tone as 16-bit wav. */
export function wav(seconds: number, sampleRate = 8_000): Buffer {
  const samples = Buffer.alloc(seconds * sampleRate * 2);
  for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE(Math.round(8_000 * Math.sin(at / 5)), at);
  return Buffer.concat([wavHeader(samples.length, sampleRate), samples]);
}

function wavHeader(bytes: number, sampleRate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF\0\0\0\0WAVEfmt ", 0, "latin1");
  header.writeUInt32LE(bytes + 36, 4);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(bytes, 40);
  return header;
}

/** Has ffmpeg make a file, for what only it can make. */
export function madeByFfmpeg(folder: string, name: string, args: readonly string[]): Buffer {
  const path = join(folder, name);
  execFileSync("ffmpeg", ["-nostdin", "-loglevel", "error", "-y", ...args, path]);
  return readFileSync(path);
}

/** What ffprobe says of a sound. */
export function probe(path: string): { codec: string; channels: number; sampleRate: number; tags: string } {
  const answer = JSON.parse(
    execFileSync("ffprobe", ["-loglevel", "error", "-of", "json", "-show_streams", "-show_format", path]).toString(),
  );
  const [stream] = answer.streams;
  return {
    codec: stream.codec_name,
    channels: stream.channels,
    sampleRate: Number(stream.sample_rate),
    tags: JSON.stringify([stream.tags, answer.format.tags]),
  };
}
