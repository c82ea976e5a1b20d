import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heavyContract } from "@millrace/worker-config/contracts";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { useHeavyWorker } from "./test/heavy-worker.ts";
import { hasProgram, probe } from "./test/sounds.ts";

const { run, read, leftovers } = useHeavyWorker();
afterEach(async () => expect(await leftovers()).toEqual([]));
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-speech-"));
});
afterAll(() => rm(folder, { recursive: true }));

const hasEspeak = hasProgram("espeak-ng");
const hasBoth = hasEspeak && hasProgram("ffmpeg");
const isDead = (code: string) => expect.objectContaining({ failureKind: "permanent", code });
const missing = (data: object) =>
  expect(run("synthesizeSpeech", { text: "Hello", ...data })).rejects.toEqual(isDead("program_missing"));

test("a text becomes a wav whose header says how long it is", async () => {
  if (!hasEspeak) return missing({});
  const seen: number[] = [];
  const progress = async (percent: number) => void seen.push(percent);
  const made = await run("synthesizeSpeech", { text: "Your report is ready." }, { progress });
  expect(made.file).toMatchObject({ name: "speech.wav", contentType: "audio/wav" });
  const sound = await read(made.file.fileId);
  expect([sound.readUInt32LE(4), sound.readUInt32LE(40)]).toEqual([sound.length - 8, sound.length - 44]);
  expect(made.durationMs).toBeGreaterThan(500);
  expect(seen).toEqual([95]);
});

test("a slower and a German voice say the same in another time", async () => {
  if (!hasEspeak) return missing({});
  const say = async (data: object) => (await run("synthesizeSpeech", { text: "Elf Uhr elf", ...data })).durationMs;
  expect(await say({ wordsPerMinute: 80, voice: "de" })).toBeGreaterThan(
    await say({ wordsPerMinute: 400, voice: "de" }),
  );
});

test("with ffmpeg a speech becomes another format", async () => {
  if (!hasBoth) return missing({ to: { format: "opus" } });
  const made = await run("synthesizeSpeech", {
    text: "Hello",
    to: { format: "opus", bitrateKbps: 24 },
    name: "hi.ogg",
  });
  expect(made.file).toMatchObject({ name: "hi.ogg", contentType: "audio/ogg; codecs=opus" });
  await writeFile(join(folder, "hi.ogg"), await read(made.file.fileId));
  expect(probe(join(folder, "hi.ogg"))).toMatchObject({ codec: "opus" });
});

test.each([
  ["an option", "-w /tmp/owned.wav --version"],
  ["markup", '<speak><audio src="/etc/passwd"/>Hello</speak>'],
  ["phonemes and commands", "[[h@'loU]] \u0001 20S \u0000 Hello"],
  ["half a character", "Hello \ud800"],
])("a text that holds %s is only spoken", async (_, text) => {
  if (!hasEspeak) return missing({});
  expect((await run("synthesizeSpeech", { text })).durationMs).toBeGreaterThan(300);
});

test("a voice that is not installed, and a speech too large for the store, are dead at once", async () => {
  if (!hasEspeak) return missing({});
  await expect(run("synthesizeSpeech", { text: "Hello", voice: "tlh" })).rejects.toEqual(isDead("voice_missing"));
  const long = { text: "Hello ".repeat(200) };
  const settings = { maxOutputBytes: 50_000 };
  await expect(run("synthesizeSpeech", long, { settings })).rejects.toEqual(isDead("output_too_large"));
});

test("without espeak-ng the job is dead, and says what to install", async () => {
  const failing = run("synthesizeSpeech", { text: "Hello" }, { programPath: folder });
  await expect(failing).rejects.toMatchObject({
    code: "program_missing",
    message: expect.stringContaining("apt-get install espeak-ng"),
  });
});

test.each([
  ["no text", { text: " \n" }],
  ["a text without a word", { text: "..." }],
  ["too much text", { text: "a".repeat(10_001) }],
  ["a voice that is an option", { text: "a", voice: "-w" }],
  ["a voice that is a path", { text: "a", voice: "../../x" }],
])("%s is refused on its way in", (_, data) => {
  expect(heavyContract.actions.synthesizeSpeech.data.safeParse(data).success).toBe(false);
});
