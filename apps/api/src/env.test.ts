import { EnvironmentError } from "@millrace/env";
import { describe, expect, test } from "vitest";
import { developmentApiKey, readApiEnv, sessionSecretOf } from "./env.ts";

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
    API_HSTS_SECONDS: 0,
    API_MAX_WRONG_KEYS: 20,
    API_SHUTDOWN_GRACE_MS: 30_000,
    AUDIT_KEEP_DAYS: 365,
    HEALTH_MAX_QUEUE_DEPTH: 10_000,
    HEALTH_MAX_DEAD_LETTERS: 100,
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

test("sessions are signed alike in every process: by SESSION_SECRET, and in development by what API_KEYS give", () => {
  const secret = "0123456789abcdef0123456789abcdef";
  expect(sessionSecretOf(readApiEnv({ ...production, API_KEYS: key, SESSION_SECRET: secret }))).toBe(secret);
  const made = sessionSecretOf(readApiEnv({ API_KEYS: key }));
  expect(made).toBe(sessionSecretOf(readApiEnv({ API_KEYS: key })));
  expect(made).not.toBe(sessionSecretOf(readApiEnv({ API_KEYS: `${key}2` })));
  expect(failure({ API_KEYS: key, SESSION_SECRET: secret.slice(1) })).toContain("SESSION_SECRET");
});

test("production makes no secret up: there nobody logs in until one is set", () => {
  expect(sessionSecretOf(readApiEnv({ ...production, API_KEYS: key }))).toBeUndefined();
});

test.each(["10.0.0.0/8", "127.0.0.1, ::1", "loopback,fd00::/8"])("the proxies %s may be trusted", (networks) => {
  expect(readApiEnv({ API_KEYS: key, API_TRUST_PROXY: networks }).API_TRUST_PROXY).toBe(networks);
});

test.each(["true", "1", "proxy.example", "10.0.0.0/8,", "10.0.0.0/8 10.1.0.0/8"])(
  "the proxies %s are refused, and the sentence names API_TRUST_PROXY",
  (networks) => {
    expect(failure({ API_KEYS: key, API_TRUST_PROXY: networks })).toContain("API_TRUST_PROXY");
  },
);
