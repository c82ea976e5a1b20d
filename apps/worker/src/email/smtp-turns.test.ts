import { startRedis } from "@millrace/dev-services";
import { createLogger } from "@millrace/logger";
import { afterEach, expect, test, vi } from "vitest";
import { openSmtpTurns, type SmtpTurns } from "./smtp-turns.ts";

const log = createLogger({ level: "silent" });
const opened: SmtpTurns[] = [];
afterEach(() => Promise.all(opened.splice(0).map((turns) => turns.close())));

function open(smtpUrl: string): SmtpTurns {
  const turns = openSmtpTurns(smtpUrl, { max: 1, durationMs: 60_000 }, log);
  opened.push(turns);
  return turns;
}

async function openConnected(smtpUrl: string): Promise<SmtpTurns> {
  const turns = open(smtpUrl);
  await vi.waitFor(() => turns.check(), { timeout: 10_000, interval: 5 });
  return turns;
}

test("processes that send through one mail server share its rate, whoever they log in as, and another server has its own", async () => {
  expect(await (await openConnected("smtp://mail.example:25")).takeTurn("job-1")).toBe(0);
  expect(await (await openConnected("smtp://user:secret@mail.example:25")).takeTurn("job-2")).toBeGreaterThan(50_000);
  expect(await (await openConnected("smtp://other.example:25")).takeTurn("job-3")).toBe(0);
});

test("while Redis is away the question fails at once, so that the job is put off instead of waiting in its worker", async () => {
  vi.stubEnv("REDIS_URL", "redis://127.0.0.1:1");
  const turns = open("smtp://mail.example:25");
  vi.unstubAllEnvs();
  await expect(turns.takeTurn("job")).rejects.toThrow();
});

test("a Redis that has frozen is told within seconds, so that a mail waits instead of using up an attempt", async () => {
  const redis = await startRedis();
  vi.stubEnv("REDIS_URL", redis.url);
  const turns = await openConnected("smtp://mail.example:25");
  vi.unstubAllEnvs();
  expect(await turns.takeTurn("job-1")).toBe(0);
  process.kill(Number(redis.pid), "SIGSTOP");
  await expect(turns.takeTurn("job-2")).rejects.toThrow("Redis gave no answer within 2000 ms");
  await redis.stop();
});
