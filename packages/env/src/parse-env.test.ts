import { expect, test } from "vitest";
import { z } from "zod";
import { EnvironmentError, parseEnv } from "./parse-env.ts";

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(3_000),
  MODE: z.enum(["fast", "safe"]).default("safe"),
  API_KEY: z.string().regex(/^key_/, "expected a key that begins with key_"),
  SITE: z.url().optional(),
});

const messageOf = (source: Record<string, string | undefined>) => {
  try {
    parseEnv(schema, source);
  } catch (error) {
    expect(error).toBeInstanceOf(EnvironmentError);
    return String(error);
  }
  return expect.fail("expected an EnvironmentError");
};

test("variables come typed, and what the schema does not name stays out", () => {
  const source = { PORT: "8080", MODE: "fast", API_KEY: "key_1", SITE: "https://example.com", HOME: "/root" };
  expect(parseEnv(schema, source)).toEqual({
    PORT: 8_080,
    MODE: "fast",
    API_KEY: "key_1",
    SITE: "https://example.com",
  });
});

test("an empty string is an unset variable: the default, or a sentence that it is not set", () => {
  expect(parseEnv(schema, { PORT: "", MODE: "", SITE: "", API_KEY: "key_1" })).toEqual({
    PORT: 3_000,
    MODE: "safe",
    API_KEY: "key_1",
  });
  expect(messageOf({ API_KEY: "" })).toMatch(/Environment variable API_KEY is not set: /);
});

test("every wrong variable has a line with its name and what was expected, and the last one says where to look", () => {
  const message = messageOf({ PORT: "0", MODE: "reckless", API_KEY: "1" });
  expect(message).toMatch(/^EnvironmentError: Environment variable PORT is not valid: /);
  expect(message).toMatch(/\nEnvironment variable MODE is not valid: .*"fast"\|"safe"/);
  expect(message).toContain(
    "\nEnvironment variable API_KEY is not valid: expected a key that begins with key_.\nSee .env.example ",
  );
});

test("a text in a number's place is told which numbers may stand there", () => {
  expect(messageOf({ PORT: "many", API_KEY: "key_1" })).toContain(
    "PORT is not valid: expected a whole number of at least 1 and of at most 65535.",
  );
});

test("no sentence repeats a value: it may be a secret", () => {
  const secret = "hunter2";
  expect(messageOf({ PORT: secret, MODE: secret, API_KEY: secret, SITE: secret })).not.toContain(secret);
});

test("without a source it reads the environment of the process", () => {
  process.env.PARSE_ENV_TEST = "here";
  try {
    expect(parseEnv(z.object({ PARSE_ENV_TEST: z.string() }))).toEqual({ PARSE_ENV_TEST: "here" });
  } finally {
    delete process.env.PARSE_ENV_TEST;
  }
});

test("a rule over several variables is told without a name of its own", () => {
  const both = z
    .object({ A: z.string().optional(), B: z.string().optional() })
    .refine(({ A, B }) => A || B, "set A or B");
  expect(() => parseEnv(both, {})).toThrow(/set A or B/);
});
