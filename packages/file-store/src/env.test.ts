import { expect, test } from "vitest";
import { readFileStoreSettings } from "./env.ts";

const keys = { FILE_STORE_ACCESS_KEY_ID: "id", FILE_STORE_SECRET_ACCESS_KEY: "a secret" };
const limits = { maxBytes: 52_428_800, ttlMs: 604_800_000 };

test("a folder needs its URL alone", () => {
  expect(readFileStoreSettings({ FILE_STORE_URL: "file:///var/lib/my%20files" })).toEqual({
    ...limits,
    location: { kind: "folder", folder: "/var/lib/my files" },
  });
});

test("a bucket is Amazon's unless an endpoint is named, and its keys come beside the URL", () => {
  const credentials = { accessKeyId: "id", secretAccessKey: "a secret" };
  expect(readFileStoreSettings({ ...keys, FILE_STORE_URL: "s3://files?region=eu-central-1" })).toEqual({
    ...limits,
    location: {
      kind: "s3",
      bucket: "files",
      prefix: "",
      endpoint: "https://s3.eu-central-1.amazonaws.com",
      region: "eu-central-1",
    },
    credentials,
  });
  const own = "s3://files/millrace/jobs/?endpoint=http://127.0.0.1:9000/";
  expect(readFileStoreSettings({ ...keys, FILE_STORE_URL: own, FILE_STORE_MAX_BYTES: "10" })).toMatchObject({
    maxBytes: 10,
    location: { prefix: "millrace/jobs/", endpoint: "http://127.0.0.1:9000", region: "us-east-1" },
  });
});

test.each([
  undefined,
  "/var/files",
  "file:files",
  "file:/files",
  "file://host/files",
  "file:///files?x=1",
  "https://bucket.example.com",
  "s3://",
  "s3://A_B",
  "s3://bucket/a//b",
  "s3://bucket/a%20b",
  "s3://bucket?endpoint=ftp://host",
  "s3://bucket?endpoint=https://host/path",
  "s3://bucket?region=../x",
  "s3://bucket?accessKeyId=MARKER",
  "s3://id:MARKER@bucket",
])("the URL %s is refused with a sentence that names the variable and not the value", (FILE_STORE_URL) => {
  const read = () => readFileStoreSettings({ ...keys, FILE_STORE_URL });
  expect(read).toThrow(/^Environment variable FILE_STORE_URL is not (set|valid): expected file:\/\/\//);
  expect(read).not.toThrow(/MARKER/);
});

test("a bucket without keys is refused, each by its name", () => {
  expect(() => readFileStoreSettings({ FILE_STORE_URL: "s3://bucket" })).toThrow(
    /FILE_STORE_ACCESS_KEY_ID is not set.*\nEnvironment variable FILE_STORE_SECRET_ACCESS_KEY is not set/,
  );
});
