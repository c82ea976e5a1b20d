import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createWebhookSecret, signWebhook, verifyWebhook } from "./index.ts";

const secret = createWebhookSecret();
const sentAt = new Date("2026-03-01T12:00:00Z");
const now = () => sentAt.getTime();
const body = JSON.stringify({ type: "order.paid", data: { customer: "Grüße ✓" } });
const headers = signWebhook({ id: "evt_1", sentAt, body }, [secret]);
const codeOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    expect(String(error)).not.toContain(secret);
    return error instanceof Error && "code" in error ? error.code : error;
  }
};

test("what we sign the reference library verifies, by either of two secrets", () => {
  const next = createWebhookSecret();
  const signed = signWebhook({ id: "evt_1", sentAt: new Date(), body }, [next, secret]);
  for (const known of [next, secret]) expect(new Webhook(known).verify(body, signed)).toEqual(JSON.parse(body));
  expect(() => new Webhook(createWebhookSecret()).verify(body, signed)).toThrow("No matching signature");
});

test("what the reference library signs we verify", () => {
  const signed = { ...headers, "webhook-signature": new Webhook(secret).sign("evt_1", sentAt, body) };
  expect(verifyWebhook(signed, body, secret, { now })).toEqual({ id: "evt_1", sentAt });
});

test.each([
  ["Node's headers", { ...headers, host: "example.com", "set-cookie": ["a", "b"] }],
  [
    "names in capitals",
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
  ],
  ["a Headers", new Headers(headers)],
  [
    "signatures of other versions and keys beside ours",
    {
      ...headers,
      "webhook-signature": `v1a,${"A".repeat(88)} v1,${"A".repeat(43)}= ${headers["webhook-signature"]}`,
    },
  ],
])("it takes %s", (_, received) => {
  expect(verifyWebhook(received, Buffer.from(body), [createWebhookSecret(), secret], { now })).toMatchObject({
    id: "evt_1",
  });
});

test.each([
  ["another body", {}, `${body} `],
  ["another id", { "webhook-id": "evt_2" }, body],
  ["a new time on an old signature", { "webhook-timestamp": String(sentAt.getTime() / 1_000 + 1) }, body],
  ["a signature of the wrong length", { "webhook-signature": "v1,AAAA" }, body],
  ["a signature that is not base64", { "webhook-signature": "v1,ÄÖÜ✓" }, body],
  ["a signature without its version", { "webhook-signature": headers["webhook-signature"].slice(3) }, body],
  ["another version of signature", { "webhook-signature": headers["webhook-signature"].replace("v1", "v2") }, body],
  ["an id beyond ASCII", { "webhook-id": "evt_✓" }, body],
])("%s is a signature that does not match", (_, changed, received) => {
  expect(codeOf(() => verifyWebhook({ ...headers, ...changed }, received, secret, { now }))).toBe("signature_mismatch");
});

test("an id with a dot is refused: a message whose body begins with a time could be read as another one", () => {
  const time = String(sentAt.getTime() / 1_000);
  const signed = signWebhook({ id: "evt_1", sentAt, body: `${time}.${body}` }, [secret]);
  const moved = { ...signed, "webhook-id": `evt_1.${time}` };
  expect(codeOf(() => verifyWebhook(moved, body, secret, { now }))).toBe("invalid_id");
});

test.each(["NaN", "1e9", "-1", "1.5", " 1", "0x10", "Infinity", "9".repeat(400), "١٢٣"])(
  "the time %j is not valid",
  (timestamp) => {
    const signed = { ...headers, "webhook-timestamp": timestamp };
    expect(codeOf(() => verifyWebhook(signed, body, secret, { now }))).toBe("invalid_timestamp");
  },
);

test("a replayed message is too old, one from the future too new, each by one millisecond", () => {
  const at = (ms: number, toleranceMs?: number) =>
    codeOf(() =>
      verifyWebhook(headers, body, secret, { now: () => sentAt.getTime() + ms, ...(toleranceMs && { toleranceMs }) }),
    );
  expect([at(300_001), at(-300_001), at(60_001, 60_000)]).toEqual([
    "timestamp_too_old",
    "timestamp_too_new",
    "timestamp_too_old",
  ]);
  expect([at(300_000), at(-300_000)]).toEqual([
    { id: "evt_1", sentAt },
    { id: "evt_1", sentAt },
  ]);
});

test.each(["webhook-id", "webhook-timestamp", "webhook-signature"])(
  "without %s, or with two, nothing is verified",
  (name) => {
    expect(codeOf(() => verifyWebhook({ ...headers, [name]: undefined }, body, secret, { now }))).toBe(
      "missing_header",
    );
    expect(codeOf(() => verifyWebhook({ ...headers, [name]: ["a", "b"] }, body, secret, { now }))).toBe(
      "missing_header",
    );
  },
);

test.each([Number.NaN, -1])("a tolerance of %s is refused: it would switch the check off", (toleranceMs) => {
  expect(() => verifyWebhook(headers, body, secret, { toleranceMs })).toThrow(RangeError);
});

test.each(["", "whsec_", "whsec_c2hvcnQ=", "whsec_✓", `${secret}!`, `whsec_${"A".repeat(120)}`])(
  "a secret that is none is refused and not repeated",
  (wrong) => {
    for (const run of [
      () => signWebhook({ id: "evt_1", sentAt, body }, [wrong]),
      () => verifyWebhook(headers, body, wrong, { now }),
    ]) {
      expect(run).toThrow(
        /^Webhook secret: expected whsec_ and base64 of 24 to 64 bytes, got (\d+ bytes|something else)\.$/,
      );
    }
  },
);

test("what would be ambiguous is not signed", () => {
  expect(() => signWebhook({ id: "evt.1", sentAt, body }, [secret])).toThrow("Webhook id");
  expect(() => signWebhook({ id: "evt_1", sentAt, body }, [])).toThrow("at least one");
  expect(() => signWebhook({ id: "evt_1", sentAt: new Date(Number.NaN), body }, [secret])).toThrow("valid date");
});
