import { expect, test } from "vitest";
import { readAiEnv } from "./env.ts";

test("production lets no agent read pages of its own network", () => {
  expect(() => readAiEnv({ NODE_ENV: "production", AI_FETCH_ALLOW_PRIVATE: "true" })).toThrow(/AI_FETCH_ALLOW_PRIVATE/);
  expect(readAiEnv({ AI_FETCH_ALLOW_PRIVATE: "true" }).AI_FETCH_ALLOW_PRIVATE).toBe(true);
});

test.each(["localhost:11434", "ftp://models.example.com", "no url"])("%s is no server of models", (AI_BASE_URL) => {
  expect(() => readAiEnv({ AI_BASE_URL })).toThrow(/AI_BASE_URL/);
});
