import { EnvironmentError } from "@millrace/env";
import { describe, expect, test } from "vitest";
import { developmentApiKey, readApiEnv } from "./env.ts";

const key = "0123456789abcdef";
const production = { NODE_ENV: "production" };

function failure(source: Record<string, string>): string {
  try {
    readApiEnv(source);
  } catch (error) {
    expect(error).toBeInstanceOf(EnvironmentError);
    return String(error);
  }
  throw new Error("expected an EnvironmentError, got none");
}

test("keys alone are enough: everything else has a default, and listens on this machine only", () => {
  expect(readApiEnv({ API_KEYS: key })).toEqual({
    NODE_ENV: "development",
    API_HOST: "127.0.0.1",
    API_PORT: 3_000,
    API_KEYS: [key],
    SCHEDULE_MIN_INTERVAL_MS: 60_000,
    SCHEDULE_MAX_PER_WORKSPACE: 100,
  });
});

test("several keys are separated by commas, with or without spaces", () => {
  expect(readApiEnv({ ...production, API_KEYS: ` ${key}, ${key}2 ` }).API_KEYS).toEqual([key, `${key}2`]);
});

test("the development key serves development", () => {
  expect(readApiEnv({ API_KEYS: developmentApiKey }).API_KEYS).toEqual([developmentApiKey]);
});

describe.each([{}, production])("with %j there is no start", (environment) => {
  test.each([
    ["without keys", {}, "is not set"],
    ["with empty keys", { API_KEYS: "" }, "is not set"],
    ["with a short key", { API_KEYS: "sixteen-less-one".slice(1) }, "at least 16 characters"],
    ["with a short key among good ones", { API_KEYS: `${key},short` }, "at least 16 characters"],
    ["with commas alone", { API_KEYS: ",," }, "at least 16 characters"],
    ["with a comma too many", { API_KEYS: `${key},` }, "at least 16 characters"],
  ])("%s, and the sentence names API_KEYS", (_, keys: { API_KEYS?: string }, expected) => {
    const sentence = failure({ ...environment, ...keys });
    expect(sentence).toMatch(/Environment variable API_KEYS (is not set|is not valid): expected/);
    expect(sentence).toContain(expected);
  });
});

test("production refuses the development key, also among others, and repeats no key", () => {
  for (const keys of [developmentApiKey, `${key}, ${developmentApiKey}`]) {
    const sentence = failure({ ...production, API_KEYS: keys });
    expect(sentence).toContain("API_KEYS is not valid: expected keys of your own in production");
    expect(sentence).not.toContain(key);
    expect(sentence).not.toContain(developmentApiKey);
  }
});

test.each(["-1", "65536", "http", "3000.5"])("the port %s is refused, and the sentence names API_PORT", (port) => {
  expect(failure({ API_KEYS: key, API_PORT: port })).toContain("API_PORT");
});

test("an environment that is misspelt is refused: it would not be production's", () => {
  expect(failure({ API_KEYS: developmentApiKey, NODE_ENV: "prod" })).toContain("NODE_ENV");
});
