import { emailQueue } from "@millrace/worker-config";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const maxPayloadBytes = 4_096;
const app = useTestApp({ maxPayloadBytes });

beforeAll(async () => {
  process.env.QUEUE_MAX_PAYLOAD_BYTES = String(maxPayloadBytes);
});
afterEach(() => emailQueue.obliterate({ force: true }));

function post(payload: object | string, contentType = "application/json") {
  const headers = { ...bearer, "content-type": contentType };
  return app().inject({ method: "POST", url: "/jobs/email/sendEmail", headers, payload });
}

describe("a body is refused and nothing is added:", () => {
  afterEach(async () => {
    expect(await emailQueue.count()).toBe(0);
  });

  const json = JSON.stringify;
  const withOptions = (options: unknown) => json({ data: mail, options });

  test.each([
    ["no JSON", '{"data": MARKER', "bad_request", undefined],
    ["an empty one", "", "invalid_body", ""],
    ["an empty object", "{}", "invalid_body", "data"],
    ["an array", "[]", "invalid_body", ""],
    ["null", "null", "invalid_body", ""],
    ["text", '"MARKER"', "invalid_body", ""],
    ["an unknown key beside data", json({ data: mail, delay: "MARKER" }), "invalid_body", ""],
    ["__proto__ beside data", `{"data":${json(mail)},"__proto__":{"x":"MARKER"}}`, "invalid_body", ""],
    ["data of the wrong type", json({ data: "MARKER" }), "invalid_data", "data"],
    ["data null", json({ data: null }), "invalid_data", "data"],
    ["a field of the wrong type", json({ data: { ...mail, subject: { MARKER: 1 } } }), "invalid_data", "data.subject"],
    ["a missing field", json({ data: { to: mail.to, text: "MARKER" } }), "invalid_data", "data.subject"],
    ["no address", json({ data: { ...mail, to: "MARKER" } }), "invalid_data", "data.to"],
    [
      "a line break in the subject",
      json({ data: { ...mail, subject: "a\r\nBcc: MARKER" } }),
      "invalid_data",
      "data.subject",
    ],
    ["neither part of a mail", json({ data: { to: mail.to, subject: "s" } }), "invalid_data", "data.text"],
    ["an option in the data", json({ data: { ...mail, delayMs: "MARKER" } }), "invalid_data", "data"],
    [
      "__proto__ deep inside",
      `{"data":{"to":{"address":"a@b.co","__proto__":{"x":"MARKER"}}}}`,
      "invalid_data",
      "data.to.__proto__",
    ],
    [
      "constructor deep inside",
      `{"data":{"to":{"constructor":{"prototype":"MARKER"}}}}`,
      "invalid_data",
      "data.to.constructor",
    ],
    ["options null", withOptions(null), "invalid_options", "options"],
    ["options that are text", withOptions("MARKER"), "invalid_options", "options"],
    ["an unknown option", withOptions({ delay: "MARKER" }), "invalid_options", "options"],
    ["a delay that is text", withOptions({ delayMs: "MARKER" }), "invalid_options", "options.delayMs"],
    ["a negative delay", withOptions({ delayMs: -1 }), "invalid_options", "options.delayMs"],
    ["no attempts", withOptions({ attempts: 0 }), "invalid_options", "options.attempts"],
    ["half a priority", withOptions({ priority: 1.5 }), "invalid_options", "options.priority"],
    ["a local time", withOptions({ runAt: "2026-01-01T00:00:00" }), "invalid_options", "options.runAt"],
    [
      "a delay and a time",
      withOptions({ delayMs: 1, runAt: "2026-01-01T00:00:00Z" }),
      "invalid_options",
      "options.runAt",
    ],
    ["an id with a colon", withOptions({ jobId: "MARKER:1" }), "invalid_options", "options.jobId"],
    ["an id of digits", withOptions({ jobId: "123" }), "invalid_options", "options.jobId"],
    ["an empty id", withOptions({ jobId: "" }), "invalid_options", "options.jobId"],
    ["an id that is a number", withOptions({ jobId: 5 }), "invalid_options", "options.jobId"],
    [
      "an id and a dedupe key",
      withOptions({ jobId: "a", dedupe: { key: "b", mode: "drop" } }),
      "invalid_options",
      "options.dedupe",
    ],
    [
      "an unknown dedupe mode",
      withOptions({ dedupe: { key: "b", mode: "MARKER" } }),
      "invalid_options",
      "options.dedupe.mode",
    ],
    [
      "__proto__ in the options",
      `{"data":${json(mail)},"options":{"__proto__":{"attempts":"MARKER"}}}`,
      "invalid_options",
      "options",
    ],
    [
      "__proto__ in the labels",
      `{"data":${json(mail)},"options":{"meta":{"__proto__":"MARKER"}}}`,
      "invalid_options",
      "options.meta.__proto__",
    ],
  ])("%s", async (_, body, code, path) => {
    const response = await post(body);
    expectProblem(response, 400, code);
    const errors: { path: string; message: string }[] = response.json().errors ?? [];
    if (path !== undefined) expect(errors.map((error) => error.path)).toContain(path);
    for (const { message } of errors) expect(message).not.toBe("");
  });

  test("none at all", async () => {
    expectProblem(
      await app().inject({ method: "POST", url: "/jobs/email/sendEmail", headers: bearer }),
      400,
      "invalid_body",
    );
  });

  test.each(["application/x-www-form-urlencoded", "application/xml", "multipart/form-data; boundary=x", "MARKER"])(
    "the content type %s",
    async (contentType) => {
      expectProblem(await post("a=MARKER", contentType), 415, "bad_request");
    },
  );

  test("text, which a foreign page's form may send", async () => {
    expectProblem(await post(json({ data: mail }), "text/plain"), 400, "invalid_body");
  });

  test("a payload above the limit, with both sizes and the variable that sets it", async () => {
    const response = await post({ data: { ...mail, text: "MARKER".repeat(1_000) } });
    expectProblem(response, 413, "payload_too_large");
    expect(response.json().detail).toMatch(/4096 bytes \(QUEUE_MAX_PAYLOAD_BYTES\), got 6\d{3}/);
  });

  test("one so large that it is not read to its end", async () => {
    expectProblem(await post({ data: { ...mail, text: "MARKER".repeat(10_000) } }), 413, "payload_too_large");
  });
});
