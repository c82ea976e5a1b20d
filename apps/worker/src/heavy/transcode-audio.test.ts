import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { useHeavyWorker } from "./test/heavy-worker.ts";
import { hasProgram, madeByFfmpeg, probe, wav } from "./test/sounds.ts";

const { run, store, read, leftovers } = useHeavyWorker();
afterEach(async () => expect(await leftovers()).toEqual([]));
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-sounds-"));
});
afterAll(() => rm(folder, { recursive: true }));

const hasFfmpeg = hasProgram("ffmpeg");
const isDead = (code: string) => expect.objectContaining({ failureKind: "permanent", code });
const missing = async () => {
  const fileId = await store(wav(1));
  await expect(run("transcodeAudio", { fileId, to: { format: "mp3" } })).rejects.toEqual(isDead("program_missing"));
};
/** Of what a file has become, and the file itself. */
const probeStored = async (fileId: string) => {
  const path = join(folder, fileId);
  await writeFile(path, await read(fileId));
  return probe(path);
};

const steps = [
  [
    { format: "mp3", bitrateKbps: 64 },
    { name: "talk.mp3", contentType: "audio/mpeg" },
    { codec: "mp3", channels: 1 },
  ],
  [
    { format: "opus", channels: 2, sampleRate: 16_000 },
    { name: "talk.ogg", contentType: "audio/ogg; codecs=opus" },
    { codec: "opus", channels: 2 },
  ],
  [
    { format: "flac", sampleRate: 22_050 },
    { name: "talk.flac", contentType: "audio/flac" },
    { codec: "flac", channels: 2, sampleRate: 22_050 },
  ],
  [
    { format: "wav", channels: 1 },
    { name: "talk.wav", contentType: "audio/wav" },
    { codec: "pcm_s16le", channels: 1 },
  ],
] as const;

test("a sound goes from format to format as it is asked for, and says how far it is", async () => {
  if (!hasFfmpeg) return missing();
  let fileId = await store(wav(2), "talk.wav");
  for (const [to, file, stream] of steps) {
    const seen: number[] = [];
    const made = await run("transcodeAudio", { fileId, to }, { progress: async (percent) => void seen.push(percent) });
    expect(made.file).toMatchObject(file);
    expect(made.durationMs).toBeGreaterThan(1_900);
    expect(made.durationMs).toBeLessThan(2_400);
    expect(seen.at(-1)).toBeGreaterThan(80);
    ({ fileId } = made.file);
    expect(await probeStored(fileId)).toMatchObject(stream);
  }
});

const made = new Map<string, Buffer>();
/** Made once, and each time a copy. */
const make = (name: string, args: readonly string[]) => {
  const content = made.get(name) ?? madeByFfmpeg(folder, name, args);
  made.set(name, content);
  return Buffer.from(content);
};
const m4a = () =>
  make("in.m4a", ["-f", "lavfi", "-i", "sine=d=1:r=44100", "-c:a", "aac", "-metadata", "comment=at home"]);
const video = () => make("v.mp4", ["-f", "lavfi", "-i", "color=d=1:s=32x32", "-c:v", "mpeg4"]);

test("an m4a is read, whatever it is called, and where it was recorded stays out unless it was asked for", async () => {
  if (!hasFfmpeg) return missing();
  const fileId = await store(m4a(), "notes.txt");
  const tagsOf = async (keepMetadata: boolean) => {
    const { file } = await run("transcodeAudio", { fileId, to: { format: "mp3" }, keepMetadata });
    return (await probeStored(file.fileId)).tags;
  };
  expect(await tagsOf(false)).not.toContain("at home");
  expect(await tagsOf(true)).toContain("at home");
});

/** What flac says of its length: how many samples, in 36 bits; 0 is unknown. */
const flacOf = (seconds: number, claimed: 0 | 0xf) => {
  const sound = make(`of-${seconds}-s.flac`, ["-f", "lavfi", "-i", "anullsrc=r=8000", "-t", String(seconds)]);
  sound[21] = ((sound[21] ?? 0) & 0xf0) | claimed;
  return sound.fill(claimed === 0 ? 0 : 0xff, 22, 26);
};

test.each([
  ["nothing", () => "", "input_empty"],
  ["something else", () => "no sound at all", "audio_unreadable"],
  ["a playlist that names a file", () => "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "audio_unreadable"],
  ["a list of files", () => "ffconcat version 1.0\nfile /etc/passwd\n", "audio_unreadable"],
  ["a playlist that begins as a sound", () => "ID3#EXTM3U\nfile:///etc/passwd\n", "audio_unreadable"],
  ["a header without a sound", () => wav(1).subarray(0, 20), "audio_unreadable"],
  ["an m4a that was cut off", () => m4a().subarray(0, -500), "audio_unreadable"],
  ["a film without sound", video, "audio_missing"],
  ["a few bytes that claim days", () => flacOf(2, 0xf), "audio_too_long"],
  ["a minute and a second", () => wav(61), "audio_too_long"],
])("a file that holds %s is dead at once", async (_, content, code) => {
  if (!hasFfmpeg) return missing();
  const fileId = await store(content(), "sound.mp3");
  await expect(run("transcodeAudio", { fileId, to: { format: "wav" } })).rejects.toEqual(isDead(code));
});

test("a sound longer than its file says, and one too large for the store, are dead and not cut off", async () => {
  if (!hasFfmpeg) return missing();
  const transcode = async (content: Buffer, settings = {}) =>
    run("transcodeAudio", { fileId: await store(content), to: { format: "wav" } }, { settings });
  await expect(transcode(flacOf(120, 0))).rejects.toEqual(isDead("audio_too_long"));
  await expect(transcode(wav(50), { maxOutputBytes: 100_000 })).rejects.toEqual(isDead("output_too_large"));
});

test("of a sound that does not say how long it is, no share is told", async () => {
  if (!hasFfmpeg) return missing();
  const seen: number[] = [];
  const progress = async (percent: number) => void seen.push(percent);
  await run("transcodeAudio", { fileId: await store(flacOf(2, 0)), to: { format: "mp3" } }, { progress });
  expect(seen).toEqual([]);
});

test("of a sound that was cut off, what is there is converted, and its length says how much that is", async () => {
  if (!hasFfmpeg) return missing();
  const fileId = await store(wav(10).subarray(0, 40_000));
  const { durationMs } = await run("transcodeAudio", { fileId, to: { format: "opus" } });
  expect(durationMs).toBeGreaterThan(2_000);
  expect(durationMs).toBeLessThan(3_000);
});

test("an ffmpeg that is told to end, as by a service that stops, says nothing of its file: it is tried again", async () => {
  if (!hasFfmpeg) return missing();
  const path = process.env.PATH;
  const pid = join(folder, "pid");
  const slow = `#!/bin/sh\nPATH=${path}; echo $$ > ${pid}; exec ffmpeg -re "$@"\n`;
  await writeFile(join(folder, "ffmpeg"), slow, { mode: 0o700 });
  let isTold = false;
  const progress = async () => {
    if (isTold) return;
    isTold = true;
    process.kill(Number(await readFile(pid, "utf8")), "SIGTERM");
  };
  const context = { programPath: `${folder}:${path}`, progress };
  const stopped = run("transcodeAudio", { fileId: await store(wav(60)), to: { format: "wav" } }, context);
  await expect(stopped).rejects.toMatchObject({ failureKind: "transient", code: "program_killed" });
  await rm(join(folder, "ffmpeg"));
});

test("without ffmpeg the job is dead, and says what to install", async () => {
  const fileId = await store(wav(1));
  const failing = run("transcodeAudio", { fileId, to: { format: "mp3" } }, { programPath: folder });
  await expect(failing).rejects.toEqual(isDead("program_missing"));
});
