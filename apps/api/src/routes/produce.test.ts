import { emailQueue } from "@millrace/worker-config";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const maxPayloadBytes = 4_096;
const app = useTestApp({ maxPayloadBytes });

beforeAll(async () => {
  process.env.QUEUE_MAX_PAYLOAD_BYTES = String(maxPayloadBytes);
});
afterEach(() => emailQueue.obliterate({ force: true }));

function post(payload: object | string, url = "/jobs/email/sendEmail") {
  return app().inject({ method: "POST", url, headers: { ...bearer, "content-type": "application/json" }, payload });
}

describe("an enqueue", () => {
  test("that adds a job answers 202 with the job's id, and the job holds what was sent", async () => {
    const response = await post({ data: mail });
    expect(response.statusCode).toBe(202);
    expect(response.headers["content-type"]).toMatch(/^application\/json/);
    const { jobId } = response.json();
    expect(response.json()).toEqual({ jobId, queue: "email", action: "sendEmail", status: "created" });
    const job = await emailQueue.getJob(jobId);
    expect(job).toMatchObject({ name: "sendEmail", data: { type: "sendEmail", data: mail } });
  });

  test("whose id exists answers 200 and changes nothing", async () => {
    const options = { jobId: "order-1" };
    expect((await post({ data: mail, options })).statusCode).toBe(202);
    const response = await post({ data: { ...mail, subject: "Another" }, options });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ jobId: "order-1", queue: "email", action: "sendEmail", status: "duplicate" });
    expect((await emailQueue.getJob("order-1"))?.data.data).toMatchObject({ subject: "Hello" });
  });

  test("whose dedupe key is taken answers 200 with the job that holds it", async () => {
    const options = { dedupe: { key: "welcome-bob", mode: "drop" } };
    const first = (await post({ data: mail, options })).json();
    const response = await post({ data: mail, options });
    expect([response.statusCode, response.json()]).toEqual([200, { ...first, status: "duplicate" }]);
    expect(await emailQueue.getWaitingCount()).toBe(1);
  });

  test("sent twice at once adds one job", async () => {
    const sent = await Promise.all(Array.from({ length: 8 }, () => post({ data: mail, options: { jobId: "race" } })));
    expect(sent.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 200, 200, 200, 200, 200, 200, 202]);
  });

  test("passes its options on to the job", async () => {
    const options = { delayMs: 60_000, priority: 2, attempts: 7, timeoutMs: 1_000, meta: { source: "test" } };
    const { jobId } = (await post({ data: mail, options })).json();
    const job = await emailQueue.getJob(jobId);
    expect(job?.opts).toMatchObject({ delay: 60_000, priority: 2, attempts: 7 });
    expect(job?.data).toMatchObject({ run: { timeoutMs: 1_000 }, meta: { source: "test" } });
  });
});

test("a payload just under the limit is taken, however its JSON was written", async () => {
  const text = "ü".repeat(1_900);
  const escaped = JSON.stringify({ data: { ...mail, text } }).replaceAll("ü", "\\u00fc");
  expect(escaped.length).toBeGreaterThan(maxPayloadBytes * 2);
  const response = await post(escaped);
  expect(response.statusCode).toBe(202);
  expect((await emailQueue.getJob(response.json().jobId))?.data.data).toMatchObject({ text });
});

describe("an action that is not there", () => {
  test.each(["nope", "__proto__", "constructor", "toString", "sendEmail%20", "SendEmail"])(
    "(%s) is a problem",
    async (action) => {
      const response = await post({ data: mail }, `/jobs/email/${action}`);
      expectProblem(response, 404, "unknown_action");
      expect(response.json().detail).toContain("expected one of sendEmail");
    },
  );

  test("because its queue has none yet, says so", async () => {
    const response = await post({ data: mail }, "/jobs/default/anything");
    expectProblem(response, 404, "unknown_action");
    expect(response.json().detail).toBe("Queue default has no actions yet, so it accepts no job.");
  });
});
