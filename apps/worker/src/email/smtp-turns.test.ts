import { startRedis } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
import { afterEach, expect, test } from "vitest";
import { openSmtpTurns, type SmtpTurns } from "./smtp-turns.ts";

const log = createLogger({ level: "silent" });
const opened: SmtpTurns[] = [];
afterEach(() => Promise.all(opened.splice(0).map((turns) => turns.close())));

function open(smtpUrl: string): SmtpTurns {
  const turns = openSmtpTurns(smtpUrl, { max: 1, durationMs: 60_000 }, log);
  opened.push(turns);
  return turns;
}

test("processes that send through one mail server share its rate, whoever they log in as, and another server has its own", async () => {
  expect(await open("smtp://mail.example:25").takeTurn("job-1")).toBe(0);
  expect(await open("smtp://user:secret@mail.example:25").takeTurn("job-2")).toBeGreaterThan(50_000);
  expect(await open("smtp://other.example:25").takeTurn("job-3")).toBe(0);
  await opened[0]?.check();
});

test("a Redis that goes away is told within seconds, so that a mail waits instead of using up an attempt", async () => {
  const { REDIS_URL } = process.env;
  const redis = await startRedis();
  process.env.REDIS_URL = redis.url;
  const turns = open("smtp://mail.example:25");
  process.env.REDIS_URL = REDIS_URL;
  expect(await turns.takeTurn("job-1")).toBe(0);
  await redis.stop();
  await expect(turns.takeTurn("job-2")).rejects.toThrow("Redis gave no answer within 2000 ms");
});
