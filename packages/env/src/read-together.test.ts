import { expect, test } from "vitest";
import { z } from "zod";
import { type Environment, parseEnv } from "./parse-env.ts";
import { readTogether } from "./read-together.ts";
import { StartError } from "./start-error.ts";

const redis = (source?: Environment) => parseEnv(z.object({ REDIS_URL: z.string("expected a URL") }), source);
const port = (source?: Environment) => parseEnv(z.object({ PORT: z.coerce.number("expected a number") }), source);

test("each part is read of the same source and comes under its name", () => {
  const read = readTogether({ redis, port }, { REDIS_URL: "redis://127.0.0.1", PORT: "80" });
  expect(read).toEqual({ redis: { REDIS_URL: "redis://127.0.0.1" }, port: { PORT: 80 } });
});

test("what is wrong in several parts is told in one error, each thing once", () => {
  const rule = () => {
    throw new StartError("The times do not fit together.");
  };
  expect(() => readTogether({ redis, port, again: redis, rule }, { PORT: "many" })).toThrow(
    [
      "Environment variable REDIS_URL is not set: expected a URL.",
      "Environment variable PORT is not valid: expected a number.",
      "The times do not fit together.",
      "See .env.example for every variable and its meaning.",
    ].join("\n"),
  );
});

test("a fault of a reader is no setting's", () => {
  const broken = () => {
    throw new TypeError("broken");
  };
  expect(() => readTogether({ redis, broken }, {})).toThrow(TypeError);
});
