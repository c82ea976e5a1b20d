import { expect, test } from "vitest";
import { readWebhookEnv } from "./env.ts";

test("production refuses to reach private networks, development may", () => {
  const source = { WEBHOOK_ALLOW_PRIVATE: "true" };
  expect(readWebhookEnv(source).WEBHOOK_ALLOW_PRIVATE).toBe(true);
  expect(readWebhookEnv({}).WEBHOOK_ALLOW_PRIVATE).toBe(false);
  expect(() => readWebhookEnv({ ...source, NODE_ENV: "production" })).toThrow(
    /WEBHOOK_ALLOW_PRIVATE is not valid: expected false/,
  );
});
