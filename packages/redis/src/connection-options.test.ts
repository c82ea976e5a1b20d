import { inspect } from "node:util";
import { expect, test } from "vitest";
import { type RedisRole, reconnectDelayMs, redisAddress, redisConnectionOptions } from "./connection-options.ts";
import { readRedisEnv } from "./env.ts";

const secret = "hunter2";

test("each role meets an outage in its own way: a producer fails at once, the others wait for ever", () => {
  const outage = (role: RedisRole) => {
    const options = redisConnectionOptions(role, "redis://localhost");
    return [options.maxRetriesPerRequest, options.enableOfflineQueue, options.autoResendUnfulfilledCommands];
  };
  expect(outage("producer")).toEqual([0, false, false]);
  expect(outage("worker")).toEqual([null, true, true]);
  expect(outage("events")).toEqual([null, true, true]);
});

test.each<[string, object]>([
  ["redis://localhost", { host: "localhost", port: 6_379, db: 0 }],
  ["redis://localhost:6380/2", { host: "localhost", port: 6_380, db: 2 }],
  ["redis://localhost/", { host: "localhost", db: 0 }],
  ["redis://[::1]:6380/15", { host: "::1", port: 6_380, db: 15 }],
  ["redis://:p%40ss%3A%2F%23%3F@redis.internal", { host: "redis.internal", password: "p@ss:/#?" }],
  ["redis://caf%C3%A9:secret@redis.internal:1", { host: "redis.internal", username: "café", password: "secret" }],
  ["rediss://redis.example.com:6380", { host: "redis.example.com", tls: { servername: "redis.example.com" } }],
  // TLS has no server name for an address; Node warns about one and will ignore it.
  ["rediss://10.0.0.1", { host: "10.0.0.1", tls: {} }],
  ["rediss://[fe80::1]:6380", { host: "fe80::1", tls: {} }],
])("%s becomes the options it means", (url, expected) => {
  expect(redisConnectionOptions("worker", url)).toMatchObject(expected);
});

test.each([
  ["redis://localhost", "localhost:6379/0"],
  [`rediss://ada:${secret}@[::1]:6380/15`, "[::1]:6380/15"],
])("%s may be shown as %s", (url, shown) => {
  expect(redisAddress(redisConnectionOptions("worker", url))).toBe(shown);
});

test("what a URL does not say is not there at all: BullMQ tells undefined from missing", () => {
  const options = redisConnectionOptions("worker", "redis://localhost");
  expect(Object.keys(options)).not.toContain("username");
  expect(Object.keys(options)).not.toContain("password");
  expect(Object.keys(options)).not.toContain("tls");
});

test.each([
  ["another protocol", `http://user:${secret}@localhost`, /expected redis:\/\/host/],
  ["a host without a protocol", `${secret}:6379`, /expected redis:\/\/host/],
  ["nothing", "", /expected redis:\/\/host/],
  ["no host, which would mean this machine", "redis:12", /expected redis:\/\/host/],
  ["no host but a database", "redis:///0", /expected redis:\/\/host/],
  ["a port that is none", `redis://:${secret}@localhost:99999`, /expected redis:\/\/host/],
  ["a query, whose values are texts", `redis://:${secret}@localhost?family=6`, /nothing after the database/],
  ["a password with an unescaped ?", `redis://user:12?${secret}@localhost`, /%3F/],
  ["a password with an unescaped #", `redis://user:12#${secret}@localhost`, /%23/],
  ["a password with an unescaped %", `redis://:${secret}%zz@localhost`, /%25/],
  ["a database that is no number", `redis://:${secret}@localhost/jobs`, /expected a database number/],
  ["two databases", `redis://:${secret}@localhost/1/2`, /expected a database number/],
])("%s is refused in a sentence that names REDIS_URL and repeats no secret", (_, url, expected) => {
  const error = (() => {
    try {
      return void redisConnectionOptions("producer", url);
    } catch (reason) {
      return reason;
    }
  })();
  expect(String(error)).toMatch(expected);
  expect(String(error)).toContain("REDIS_URL");
  expect(inspect(error)).not.toContain(secret);
});

test("a missing or wrong REDIS_URL says what to set, and repeats nothing", () => {
  const { REDIS_URL } = process.env;
  try {
    delete process.env.REDIS_URL;
    expect(() => readRedisEnv()).toThrow(/REDIS_URL is not set: expected redis:\/\//);
    process.env.REDIS_URL = `http://:${secret}@localhost`;
    expect(() => readRedisEnv()).toThrow(/REDIS_URL is not valid: expected redis:\/\//);
    expect(() => readRedisEnv()).not.toThrow(secret);
    process.env.REDIS_URL = "rediss://redis.example.com";
    expect(readRedisEnv()).toEqual({ REDIS_URL: "rediss://redis.example.com" });
  } finally {
    process.env.REDIS_URL = REDIS_URL;
  }
});

test("reconnecting begins soon, slows down, stays below a producer's patience and is spread out", () => {
  const delays = (attempt: number) => Array.from({ length: 200 }, () => reconnectDelayMs(attempt));
  for (const delay of delays(1)) expect(delay).toBeLessThanOrEqual(50);
  for (const attempt of [10, 1_000, Number.MAX_SAFE_INTEGER]) {
    for (const delay of delays(attempt)) {
      expect(delay).toBeGreaterThanOrEqual(500);
      expect(delay).toBeLessThanOrEqual(1_000);
    }
  }
  expect(new Set(delays(10)).size).toBeGreaterThan(50);
});
