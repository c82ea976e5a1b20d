import { expect, test } from "vitest";
import { createSessions } from "./sessions.ts";

const secret = "a-secret-of-thirty-two-characters";
const cookieOf = (header: string) => header.split(";")[0] ?? "";

test("a session is read by every process with the same secret, and by no other", () => {
  const cookie = cookieOf(createSessions(secret, { isSecure: true }).begin("key-1"));
  expect(createSessions(secret, { isSecure: true }).read(`theme=dark; ${cookie}; x=y`)).toBe("key-1");
  expect(createSessions(`${secret}!`, { isSecure: true }).read(cookie)).toBeUndefined();
});

test("a session that was changed, or made up, is none", () => {
  const sessions = createSessions(secret, { isSecure: false });
  const cookie = cookieOf(sessions.begin("key-1"));
  const [name, value = ""] = cookie.split("=");
  const [keyId, endsMs, signature] = value.split(".");
  for (const changed of [
    `key-2.${endsMs}.${signature}`,
    `${keyId}.${endsMs}0.${signature}`,
    `${keyId}.${endsMs}.`,
    "",
  ]) {
    expect(sessions.read(`${name}=${changed}`)).toBeUndefined();
  }
  expect(sessions.read(undefined)).toBeUndefined();
  expect(sessions.read(cookieOf(sessions.end()))).toBeUndefined();
});

test("a session ends after eight hours, whatever the browser keeps", () => {
  let nowMs = 0;
  const sessions = createSessions(secret, { isSecure: false, now: () => nowMs });
  const cookie = cookieOf(sessions.begin("key-1"));
  nowMs = 8 * 3_600_000 - 1;
  expect(sessions.read(cookie)).toBe("key-1");
  nowMs++;
  expect(sessions.read(cookie)).toBeUndefined();
});

test("the cookie is out of reach for scripts, other sites, other hosts and, in production, connections without TLS", () => {
  const header = createSessions(secret, { isSecure: true }).begin("key-1");
  expect(header).toMatch(/^__Host-millrace-session=.*; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
  expect(createSessions(secret, { isSecure: false }).begin("key-1")).not.toContain("Secure");
});
