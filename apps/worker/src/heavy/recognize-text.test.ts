import sharp from "sharp";
import { afterEach, expect, test } from "vitest";
import { findLanguages } from "./find-languages.ts";
import { useHeavyWorker } from "./test/heavy-worker.ts";
import { picture } from "./test/picture.ts";

const { run, store, read, leftovers } = useHeavyWorker();
afterEach(async () => expect(await leftovers()).toEqual([]));

test("text in a picture is read, without a network", async () => {
  const seen: number[] = [];
  const progress = async (percent: number) => void seen.push(percent);
  const fileId = await store(await picture().toBuffer(), "sign.png");
  const found = await run("recognizeText", { fileId }, { progress });
  const text = (await read(found.file.fileId)).toString();
  expect(text.trim()).toBe("MILLRACE");
  expect(found).toMatchObject({ characters: text.length, file: { name: "sign.txt" } });
  expect(found.confidence).toBeGreaterThan(50);
  expect(Math.max(...seen)).toBeGreaterThan(80);
});

test("a language that is not installed is named, with those that are", async () => {
  const fileId = await store(await picture().toBuffer());
  await expect(run("recognizeText", { fileId, languages: ["eng", "tlh"] })).rejects.toMatchObject({
    failureKind: "permanent",
    code: "language_not_installed",
    message: expect.stringMatching(/tlh.*has eng\./),
  });
});

test("a folder of languages that cannot be read is named, before any language is asked for", () => {
  expect(() => findLanguages([], "/nowhere/tessdata")).toThrow(/HEAVY_OCR_DATA_FOLDER.*\/nowhere\/tessdata.*ENOENT/);
  expect(findLanguages([])).toEqual([]);
});

test.each([
  ["no image", "image_unreadable", async () => "Tea at five"],
  [
    "too many pixels",
    "image_too_large",
    () =>
      sharp({ create: { width: 2_100, height: 2_000, channels: 3, background: "#fff" } })
        .png()
        .toBuffer(),
  ],
])("%s is dead at once, with %s", async (_name, code, content) => {
  const fileId = await store(await content());
  await expect(run("recognizeText", { fileId })).rejects.toMatchObject({ failureKind: "permanent", code });
});

test("a job that is called off while it reads leaves nothing behind", async () => {
  const fileId = await store(await picture().toBuffer());
  const cancelling = new AbortController();
  const progress = async () => cancelling.abort(new Error("called off"));
  await expect(run("recognizeText", { fileId }, { signal: cancelling.signal, progress })).rejects.toThrow("called off");
});
