import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterEach, expect, test } from "vitest";
import { useHeavyWorker } from "./test/heavy-worker.ts";

const { run, store, read, leftovers, files } = useHeavyWorker();
afterEach(async () => expect(await leftovers()).toEqual([]));

const image = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 80, b: 40 } } });

test.each(["jpeg", "png", "webp", "avif"] as const)("an image becomes a smaller one as %s", async (format) => {
  const seen: number[] = [];
  const fileId = await store(await image(400, 200).png().toBuffer(), "photo.PNG");
  const progress = async (percent: number) => void seen.push(percent);
  const made = await run("transformImage", { fileId, format, width: 100 }, { progress });
  expect(made).toMatchObject({ width: 100, height: 50, frames: 1 });
  expect(made.file).toMatchObject({ name: `photo.${format}`, contentType: `image/${format}` });
  const metadata = await sharp(await read(made.file.fileId)).metadata();
  expect(metadata).toMatchObject({
    width: 100,
    height: 50,
    ...(format === "avif" ? { compression: "av1" } : { format }),
  });
  expect(seen).toEqual([10, 95]);
});

test("a photo stands upright, and where it was taken is not in it unless that was asked for", async () => {
  const photo = image(60, 40)
    .withExif({ IFD0: { Copyright: "Ada" } })
    .withMetadata({ orientation: 6 })
    .jpeg();
  const fileId = await store(await photo.toBuffer());
  const plain = await run("transformImage", { fileId });
  expect(plain).toMatchObject({ width: 40, height: 60 });
  const stripped = await sharp(await read(plain.file.fileId)).metadata();
  expect(stripped).toMatchObject({ format: "jpeg", width: 40, height: 60 });
  expect(stripped.exif).toBeUndefined();
  const kept = await run("transformImage", { fileId, keepMetadata: true });
  const metadata = await sharp(await read(kept.file.fileId)).metadata();
  expect(metadata.exif?.toString("latin1")).toContain("Ada");
  expect(metadata.orientation ?? 1).toBe(1);
});

test("nothing is enlarged unless that was asked for", async () => {
  const fileId = await store(await image(40, 20).png().toBuffer());
  expect(await run("transformImage", { fileId, width: 400 })).toMatchObject({ width: 40, height: 20 });
  expect(await run("transformImage", { fileId, width: 400, allowEnlargement: true })).toMatchObject({ height: 200 });
});

test.each([
  ["inside", 50, 25],
  ["outside", 100, 50],
  ["cover", 50, 50],
  ["contain", 50, 50],
  ["fill", 50, 50],
])("fit %s of 200 × 100 in 50 × 50 is %i × %i", async (fit, width, height) => {
  const fileId = await store(await image(200, 100).png().toBuffer());
  expect(await run("transformImage", { fileId, fit, width: 50, height: 50 })).toMatchObject({ width, height });
});

test("an animation keeps its frames where that was asked for, and is one image elsewhere", async () => {
  const fileId = await store(await animation(3));
  expect(await run("transformImage", { fileId, format: "webp" })).toMatchObject({ frames: 1, width: 8, height: 8 });
  const moving = await run("transformImage", { fileId, format: "webp", animated: true, width: 4 });
  expect(moving).toMatchObject({ frames: 3, width: 4, height: 4 });
  expect((await sharp(await read(moving.file.fileId)).metadata()).pages).toBe(3);
});

test.each([
  ["no image at all", "image_unreadable", async () => "%PDF-1.7 is not an image", {}],
  [
    "an SVG, which is a program",
    "image_unreadable",
    async () => '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    {},
  ],
  ["an empty file", "input_empty", async () => "", {}],
  ["one that is too large a file", "input_too_large", async () => Buffer.alloc(4_000_001), {}],
  ["one that was cut off", "image_unreadable", async () => (await noise().jpeg().toBuffer()).subarray(0, 5_000), {}],
  ["a few bytes that claim 65000 × 65000 pixels", "image_too_large", async () => pngHeader(65_000, 65_000), {}],
  ["more pixels than are allowed", "image_too_large", async () => image(2_100, 2_000).png().toBuffer(), {}],
  ["an animation of 501 frames", "image_too_many_frames", () => animation(501), { format: "webp", animated: true }],
  [
    "an animation too large in all",
    "image_too_large",
    () => animation(4, 1_024, "webp"),
    { format: "webp", animated: true },
  ],
  [
    "an output of 16000 × 16000",
    "output_too_large",
    async () => image(10, 10).png().toBuffer(),
    { width: 16_000, allowEnlargement: true },
  ],
  [
    "an outside fit of a narrow strip",
    "output_too_large",
    async () => image(1, 9_000).png().toBuffer(),
    { width: 16_000, height: 10, fit: "outside", allowEnlargement: true },
  ],
])("%s is dead at once, with %s", async (_name, code, content, wanted) => {
  const fileId = await store(await content());
  await expect(run("transformImage", { fileId, ...wanted })).rejects.toMatchObject({ failureKind: "permanent", code });
});

test("a file that is gone is dead at once", async () => {
  const fileId = await store("x");
  await files().delete(fileId);
  await expect(run("transformImage", { fileId })).rejects.toMatchObject({ code: "file_missing" });
});

test("a job that is called off while it works leaves nothing behind", async () => {
  const fileId = await store(await noise().png().toBuffer());
  const cancelling = new AbortController();
  const progress = async () => cancelling.abort(new Error("called off"));
  const job = run("transformImage", { fileId, format: "avif" }, { signal: cancelling.signal, progress });
  await expect(job).rejects.toThrow("called off");
});

const noise = () => {
  const bytes = Uint8Array.from({ length: 300 * 300 * 3 }, (_, at) => (at * at * 31) % 251);
  return sharp(bytes, { raw: { width: 300, height: 300, channels: 3 } });
};

/** A moving image: no two frames are the same, or they would be one. */
async function animation(frames: number, side = 8, format: "gif" | "webp" = "gif"): Promise<Buffer> {
  const bytes = Buffer.alloc(side * side * frames * 3);
  for (let frame = 0; frame < frames; frame++)
    bytes.fill((frame * 97) % 256, frame * side * side * 3, (frame + 1) * side * side * 3);
  const raw = { width: side, height: side * frames, channels: 3, pageHeight: side } as const;
  return sharp(bytes, { raw }).toFormat(format, { effort: 1 }).toBuffer();
}

/** A PNG whose header says what it says, with next to nothing behind it. */
function pngHeader(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(4);
    frame.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([frame, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.alloc(64))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
