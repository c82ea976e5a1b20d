import { expect, test } from "vitest";
import { mail, useFreshQueues } from "../test/queues.ts";
import { refusalOf } from "../test/refusal.ts";
import { emailContract, emailQueue, enqueue, onEnqueue } from "./index.ts";
import { defaultMaxPayloadBytes } from "./jobs/check-payload.ts";

useFreshQueues();

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const envelopeBytes = Buffer.byteLength(JSON.stringify({ type: "sendEmail", data: { ...mail, text: "" } }));

test("a payload that is as large as it may be is added, also where its enqueue is traced, and one byte more is not", async () => {
  const ends: string[] = [];
  const stop = onEnqueue(() => ({
    traceparent,
    added: () => ends.push("added"),
    failed: () => ends.push("failed"),
  }));
  try {
    const add = (bytes: number) => enqueue(emailContract, "sendEmail", { ...mail, text: "a".repeat(bytes) });
    const stored = async (bytes: number) => (await emailQueue.getJob((await add(bytes)).jobId))?.data;
    expect(await stored(10)).toMatchObject({ meta: { traceparent } });
    const full = defaultMaxPayloadBytes - envelopeBytes;
    expect(await stored(full)).toEqual({ type: "sendEmail", data: { ...mail, text: "a".repeat(full) } });
    expect(await refusalOf(add(full + 1))).toMatchObject({ code: "payload_too_large" });
    expect(ends).toEqual(["added", "added", "failed"]);
  } finally {
    stop();
  }
});
