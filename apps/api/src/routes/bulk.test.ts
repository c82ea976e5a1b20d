import { emailQueue } from "@millrace/worker-config";
import { afterEach, expect, test } from "vitest";
import { bearer, expectProblem, mail, useTestApp } from "../../test/test-app.ts";

const app = useTestApp();

afterEach(() => emailQueue.obliterate({ force: true }));
const post = (payload: object, headers = {}) =>
  app().inject({ method: "POST", url: "/jobs/email/sendEmail/bulk", headers: { ...bearer, ...headers }, payload });

test("a thousand jobs are added by one request, in their order", async () => {
  const items = Array.from({ length: 1_000 }, (_, index) => ({ data: { ...mail, subject: `No. ${index}` } }));
  const response = await post({ items });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toMatchObject({ queue: "email", action: "sendEmail", created: 1_000, refused: 0 });
  expect(await emailQueue.count()).toBe(1_000);
  const job = await emailQueue.getJob(response.json().items[7].jobId);
  expect(job?.data.data).toMatchObject({ subject: "No. 7" });
});

test("each item is answered for itself, and one bad one stops no other", async () => {
  const response = await post({
    items: [
      { data: mail, options: { jobId: "one" } },
      { data: { ...mail, to: "MARKER" } },
      { data: mail, options: { jobId: "one" } },
      { data: mail, delay: 1 },
      "MARKER",
      { data: mail, options: { attempts: "MARKER" } },
    ],
  });
  expect(response.json()).toMatchObject({ created: 1, duplicates: 1, refused: 4, unavailable: 0 });
  expect(response.json().items).toEqual([
    { status: "created", jobId: "one" },
    {
      status: "refused",
      error: {
        code: "invalid_data",
        detail: expect.any(String),
        errors: [expect.objectContaining({ path: "data.to" })],
      },
    },
    { status: "duplicate", jobId: "one" },
    { status: "refused", error: expect.objectContaining({ code: "invalid_body" }) },
    { status: "refused", error: expect.objectContaining({ code: "invalid_body" }) },
    {
      status: "refused",
      error: expect.objectContaining({
        code: "invalid_options",
        errors: [expect.objectContaining({ path: "options.attempts" })],
      }),
    },
  ]);
  expect(response.body).not.toContain("MARKER");
  expect(await emailQueue.count()).toBe(1);
});

test.each([[[]], [Array.from({ length: 1_001 }, () => ({ data: mail }))], ["MARKER"], [undefined]])(
  "a body without 1 to 1,000 items is a problem (%#)",
  async (items) => {
    expectProblem(await post({ items }), 400, "invalid_body");
    expect(await emailQueue.count()).toBe(0);
  },
);

test("with an Idempotency-Key a repetition adds nothing and gets the same answer", async () => {
  const payload = { items: [{ data: mail }, { data: { ...mail, to: "nobody" } }] };
  const headers = { "idempotency-key": '"bulk-1"' };
  const first = await post(payload, headers);
  const second = await post(payload, headers);
  expect(second.json()).toEqual(first.json());
  expect(second.headers["idempotency-replayed"]).toBe("true");
  expect(await emailQueue.count()).toBe(1);
});
