import { pino } from "pino";
import { expect, test } from "vitest";
import { searchObjectsAlone } from "./search-objects-alone.ts";

/** A logger that redacts as ours does, and its lines. */
function redacting(): { logger: pino.Logger; lines: () => unknown[] } {
  const written: unknown[] = [];
  const destination = { write: (line: string) => void written.push(JSON.parse(line)) };
  const logger = pino(
    { base: null, timestamp: false, redact: { paths: ["*.token"], censor: "[redacted]" } },
    destination,
  );
  return { logger, lines: () => written };
}

test("the installed pino searches every field where it is spared that; another one may do it elsewhere", () => {
  expect(searchObjectsAlone(redacting().logger)).toBe(true);
  expect(searchObjectsAlone(pino({ level: "silent" }))).toBe(false);
});

test("every kind of value is written as pino writes it, and objects are searched in lines, children and messages", () => {
  const values = {
    text: 'a "b"\n\u2028',
    number: 1.5,
    none: Number.NaN,
    flag: true,
    empty: null,
    list: ["a", { token: "hunter2" }],
    at: new Date(0),
    err: new Error("no"),
  };
  const write = ({ logger, lines }: ReturnType<typeof redacting>) => {
    logger.info({ ...values, user: { token: "hunter2" } }, 'said "so"');
    logger
      .child({ ...values, user: { token: "hunter2" } })
      .child({ deeper: { token: "hunter2" } })
      .warn("%o", { user: { token: "hunter2" } });
    return lines();
  };
  const spared = redacting();
  searchObjectsAlone(spared.logger);
  const lines = write(spared);
  expect(lines).toEqual(write(redacting()));
  expect(lines[0]).toMatchObject({ user: { token: "[redacted]" }, text: values.text });
  expect(lines[1]).toMatchObject({ user: { token: "[redacted]" }, deeper: { token: "[redacted]" } });
});
