import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PermanentError, TransientError } from "@millrace/worker-host";
import { type RunProgram, readText } from "../run-program.ts";

export interface Speech {
  readonly text: string;
  readonly voice: string;
  readonly wordsPerMinute: number;
  readonly pitch: number;
}

/** What espeak-ng begins its output with; the sound follows. */
const headerBytes = 44;

/**
 * Reads a text out into a wav file. The text goes in by the standard input: none of it is an option, a name of a file or markup.
 *
 * @param tooLarge what is thrown once the file has more than `maxBytes`
 * @returns how long it is, in milliseconds
 * @throws PermanentError `voice_missing`, `speech_empty`, `program_missing`
 * @throws TransientError `speech_failed`, `program_killed`
 */
export async function speak(
  runProgram: RunProgram,
  { text, voice, wordsPerMinute, pitch }: Speech,
  { path, maxBytes, tooLarge }: { readonly path: string; readonly maxBytes: number; readonly tooLarge: () => Error },
  signal: AbortSignal,
): Promise<number> {
  const folder = dirname(path);
  await requireVoice(runProgram, voice, folder, signal);
  const { exitCode, output: bytes } = await runProgram({
    program: "espeak-ng",
    args: ["--stdin", "--stdout", "-b", "1", "-v", voice, "-s", String(wordsPerMinute), "-p", String(pitch)],
    input: speakable(text),
    folder,
    signal,
    read: (stdout) => writeAtMost(stdout, path, maxBytes, tooLarge),
  });
  if (exitCode !== 0)
    throw new TransientError(`espeak-ng ended with exit code ${exitCode}.`, { code: "speech_failed" });
  if (bytes <= headerBytes) throw new PermanentError("The voice says nothing of this text.", { code: "speech_empty" });
  return finishHeader(path, bytes);
}

async function requireVoice(runProgram: RunProgram, voice: string, folder: string, signal: AbortSignal): Promise<void> {
  const { output } = await runProgram({
    program: "espeak-ng",
    args: ["--voices"],
    folder,
    signal,
    read: (stdout) => readText(stdout, 100_000),
  });
  // A line of each: a priority, its language, and in brackets others that it stands for.
  const voices = output
    .split("\n")
    .flatMap((line) => [...line.matchAll(/(?:^\s*\d+\s+|\()([\w-]+)/g)].map(([, language]) => language));
  if (voices.includes(voice)) return;
  throw new PermanentError(`espeak-ng has no voice ${voice} where the heavy worker runs: see espeak-ng --voices.`, {
    code: "voice_missing",
  });
}

/** espeak-ng takes control characters for commands, and [[…]] for phonemes. */
function speakable(text: string): string {
  return text
    .toWellFormed()
    .replace(/(?!\n)\p{Cc}/gu, " ")
    .replaceAll("[[", "[ [");
}

async function writeAtMost(stdout: Readable, path: string, maxBytes: number, tooLarge: () => Error): Promise<number> {
  let bytes = 0;
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      yield chunk;
    }
  };
  await pipeline(stdout, counted, createWriteStream(path, { flags: "wx", mode: 0o600 }));
  return bytes;
}

/** Into a pipe, espeak-ng cannot go back and say how long the sound has become. */
async function finishHeader(path: string, bytes: number): Promise<number> {
  const handle = await open(path, "r+");
  try {
    const header = Buffer.alloc(headerBytes);
    await handle.read(header, 0, headerBytes, 0);
    header.writeUInt32LE(bytes - 8, 4);
    header.writeUInt32LE(bytes - headerBytes, 40);
    await handle.write(header, 0, headerBytes, 0);
    const bytesPerSecond = header.readUInt32LE(28);
    return Math.round(((bytes - headerBytes) / bytesPerSecond) * 1_000);
  } finally {
    await handle.close();
  }
}
