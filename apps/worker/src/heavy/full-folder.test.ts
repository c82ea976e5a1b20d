import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { heavyContract } from "@millrace/worker-config/contracts";
import { jobContext } from "@millrace/worker-host/testing";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useHeavyWorker } from "./test/heavy-worker.ts";
import { picture } from "./test/picture.ts";
import { openSmallFolder } from "./test/small-folder.ts";
import { hasProgram, wav } from "./test/sounds.ts";
import { createInWorkFolder } from "./work-folder.ts";

const { run, store, files } = useHeavyWorker();
const room = 200_000;
let small: Awaited<ReturnType<typeof openSmallFolder>>;
beforeAll(async () => {
  small = await openSmallFolder(room);
});
afterAll(() => small?.remove());

const isFull = expect.objectContaining({ failureKind: "transient", code: "temp_folder_full" });
/** Where nothing can be mounted: the same error of the system, from the device that is always full. */
const refusesFullDevice = async () => {
  const inWorkFolder = createInWorkFolder({ files: files(), parent: tmpdir(), maxInputBytes: 1 });
  await expect(
    inWorkFolder(jobContext({ queue: "heavy", action: "transformImage" }), () => writeFile("/dev/full", "x")),
  ).rejects.toEqual(isFull);
};
const noise = () => {
  const bytes = Uint8Array.from({ length: 300 * 300 * 3 }, (_, at) => (at * at * 31) % 251);
  return sharp(bytes, { raw: { width: 300, height: 300, channels: 3 } });
};
const row = { note: "x".repeat(300) };

const cases: [keyof typeof heavyContract.actions, () => Promise<object>][] = [
  [
    "transformImage",
    async () => ({
      fileId: await store(await noise().png().toBuffer()),
      format: "webp",
      quality: 100,
      width: 900,
      allowEnlargement: true,
    }),
  ],
  ["extractDocumentText", async () => ({ fileId: await store("Tea at five. ".repeat(12_000)) })],
  ["recognizeText", async () => ({ fileId: await store(await picture().toBuffer()) })],
  [
    "generateReport",
    async () => ({
      format: "csv",
      title: "Notes",
      columns: [{ key: "note", heading: "Note", type: "text" }],
      rows: Array.from({ length: 1_000 }, () => row),
    }),
  ],
];
if (hasProgram("ffmpeg"))
  cases.push(["transcodeAudio", async () => ({ fileId: await store(wav(10)), to: { format: "wav" } })]);
if (hasProgram("espeak-ng")) cases.push(["synthesizeSpeech", async () => ({ text: "Hello ".repeat(200) })]);

test.each(cases)("%s in a full folder is tried again, and says nothing bad of the file", async (action, data) => {
  if (!small) return refusesFullDevice();
  await expect(run(action, await data(), { tempFolder: small.path })).rejects.toEqual(isFull);
});

test("a picture that is to be read, and an input on its way in, find the folder full as well", async () => {
  if (!small) return refusesFullDevice();
  const fileId = await store(await noise().resize(800, 800).jpeg().toBuffer());
  await expect(run("recognizeText", { fileId }, { tempFolder: small.path })).rejects.toEqual(isFull);
  const large = await store(Buffer.alloc(room + 1, 65));
  await expect(run("extractDocumentText", { fileId: large }, { tempFolder: small.path })).rejects.toEqual(isFull);
});
