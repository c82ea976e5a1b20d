import { Writable } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { createLogger, getChildLogger, type Logger } from "./logger.ts";

const secret = "hunter2";

/** A logger whose lines a test can read. */
function capture(options: Parameters<typeof createLogger>[0] = {}): {
  logger: Logger;
  text: () => string;
  lines: () => Record<string, unknown>[];
} {
  let written = "";
  const destination = new Writable({
    write: (chunk, _, done) => {
      written += chunk;
      done();
    },
  });
  const logger = createLogger({ level: "trace", ...options, destination });
  const lines = () =>
    written
      .split("\n")
      .filter(Boolean)
      .map((line): Record<string, unknown> => JSON.parse(line));
  return { logger, text: () => written, lines };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a line is one JSON object with name, level, message and the time as ISO text", () => {
  const { logger, lines } = capture({ name: "worker:email" });
  logger.info({ jobId: "a" }, "done");
  expect(lines()).toHaveLength(1);
  expect(lines()[0]).toMatchObject({ name: "worker:email", level: 30, msg: "done", jobId: "a" });
  expect(lines()[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("an error stands under err with type, message, stack and its causes, down to the first", () => {
  const { logger, lines } = capture();
  const root = Object.assign(new TypeError("root"), { code: "E_ROOT" });
  logger.error({ err: new Error("top", { cause: new Error("middle", { cause: root }) }) }, "failed");
  expect(lines()[0]?.err).toMatchObject({
    type: "Error",
    message: "top",
    stack: expect.stringContaining("logger.test.ts"),
    cause: { message: "middle", cause: { type: "TypeError", message: "root", code: "E_ROOT" } },
  });
});

test("an error logged alone is under err too", () => {
  const { logger, lines } = capture();
  logger.error(new Error("alone"));
  expect(lines()[0]).toMatchObject({ msg: "alone", err: { message: "alone" } });
});

test.each(["password", "authorization", "cookie", "token", "apiKey", "secret", "payload", "data"])(
  "%s is redacted, by itself and in an object",
  (name) => {
    const { logger, lines, text } = capture();
    logger.info({ [name]: secret, inside: { [name]: { deep: secret } }, kept: "kept" });
    logger.child({ [name]: secret }).info("bound");
    expect(text()).not.toContain(secret);
    expect(lines()[0]).toMatchObject({ [name]: "[redacted]", inside: { [name]: "[redacted]" }, kept: "kept" });
  },
);

test("an error of Redis does not take its command's arguments along: they hold the payload", () => {
  const { logger, text, lines } = capture();
  const reply = () => Object.assign(new Error("OOM"), { command: { name: "evalsha", args: ["sha", secret] } });
  logger.error({ err: reply() });
  logger.error({ err: new Error("top", { cause: reply() }) });
  logger.error({ error: reply() });
  logger.error(new Error("top", { cause: new Error("middle", { cause: reply() }) }));
  expect(text()).not.toContain(secret);
  expect(lines()[0]).toMatchObject({ err: { message: "OOM" } });
});

test("an error is its type, message, stack, code and causes, and nothing that a client hung on it", () => {
  const { logger, text, lines } = capture();
  const refused = Object.assign(new Error("refused", { cause: new Error("deeper") }), {
    code: "E_NO",
    config: { body: secret },
  });
  logger.error({ err: refused });
  expect(text()).not.toContain(secret);
  const expected = { type: "Error", message: "refused", code: "E_NO", cause: { message: "deeper" } };
  expect(lines()[0]).toMatchObject({ err: expected });
});

test("an error that throws when it is looked at costs its line no more than itself", () => {
  const { logger, lines } = capture();
  const unreadable = (field: string) =>
    Object.defineProperty(new Error("a"), field, {
      get: () => {
        throw new Error("looked at");
      },
    });
  for (const field of ["message", "stack", "code", "cause"]) logger.error({ err: unreadable(field) }, "failed");
  logger.error({ err: new Error("top", { cause: unreadable("message") }) }, "failed");
  const sentence = "an error that cannot be read: its fields throw";
  expect(lines().map(({ msg }) => msg)).toEqual(Array(5).fill("failed"));
  expect(lines().map(({ err }) => err)).toEqual([
    ...Array(4).fill(sentence),
    expect.objectContaining({ message: "top", cause: sentence }),
  ]);
});

test("a failed JSON.parse does not quote what was parsed", () => {
  const { logger, text } = capture();
  try {
    JSON.parse(secret);
  } catch (err) {
    logger.error({ err }, "could not read it");
  }
  expect(text()).toMatch(/expected JSON/);
  expect(text()).not.toContain(secret);
});

test("redaction leaves the caller's object as it was", () => {
  const { logger } = capture();
  const given = { password: secret, user: { token: secret } };
  logger.info(given);
  expect(given).toEqual({ password: secret, user: { token: secret } });
});

test("lines below the level are not written", () => {
  const { logger, lines } = capture({ level: "warn" });
  logger.info("quiet");
  logger.warn("loud");
  expect(lines().map(({ msg }) => msg)).toEqual(["loud"]);
});

test("the level comes from LOG_LEVEL where the caller names none", () => {
  vi.stubEnv("LOG_LEVEL", "error");
  let written = "";
  const destination = {
    write: (line: string) => {
      written += line;
    },
  };
  const logger = createLogger({ destination });
  logger.warn("quiet");
  logger.error("loud");
  expect(logger.level).toBe("error");
  expect(written).toContain("loud");
  expect(written).not.toContain("quiet");
});

test("a level or format that does not exist stops the start with a sentence", () => {
  vi.stubEnv("LOG_LEVEL", "loud");
  expect(() => createLogger()).toThrow(/Environment variable LOG_LEVEL is not valid: .*"trace"/);
  vi.stubEnv("LOG_LEVEL", "info");
  vi.stubEnv("LOG_FORMAT", "xml");
  expect(() => createLogger()).toThrow(/Environment variable LOG_FORMAT is not valid: .*"json"\|"pretty"/);
});

test("child loggers of one process carry their own names", () => {
  const [email, chat] = [getChildLogger("email"), getChildLogger("chat")];
  expect([email.bindings().name, chat.bindings().name]).toEqual(["email", "chat"]);
});
