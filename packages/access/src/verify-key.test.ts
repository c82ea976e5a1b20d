import { closeQueues } from "@millrace/worker-config";
import { afterAll, expect, test } from "vitest";
import { readRecordScript, runKeyScript } from "./key-records.ts";
import { createApiKey, listApiKeys, revokeApiKey } from "./manage-keys.ts";
import { createKeyVerifier, keyCacheMs } from "./verify-key.ts";

afterAll(closeQueues);

const minute = 60_000;

test("a key is taken as it was made, for what it was made, and nothing beside it", async () => {
  const { key, apiKey } = await createApiKey({ name: "Shop", role: "producer", workspaceId: "ws-1" });
  const verifier = createKeyVerifier();
  expect(key).toMatch(/^mr_[0-9a-f]{16}_[\w-]{43}$/);
  expect(await verifier.verify(key)).toMatchObject({ ...apiKey, lastUsedAt: null });
  expect(await verifier.find(apiKey.id)).toMatchObject({ name: "Shop", role: "producer", workspaceId: "ws-1" });
  const { key: another } = await createApiKey({ name: "Other", role: "admin" });
  const exchanged = key.slice(0, -43) + another.slice(-43);
  for (const wrong of ["", "mr_", key.slice(0, -1), `${key}x`, ` ${key}`, exchanged, key.replace("mr_", "MR_")]) {
    expect(await verifier.verify(wrong)).toBeUndefined();
  }
});

test("Redis holds a digest and never the secret", async () => {
  const { key, apiKey } = await createApiKey({ name: "Secret", role: "viewer" });
  const stored = String(await runKeyScript(readRecordScript, apiKey.id));
  expect(stored).toContain("Secret");
  expect(stored).not.toContain(key.slice(-43));
});

test("a revoked key is refused once a process has forgotten it, and at once by one that did not know it", async () => {
  let nowMs = Date.now();
  const knowing = createKeyVerifier({ now: () => nowMs });
  const { key, apiKey } = await createApiKey({ name: "Left the house", role: "operator" });
  await knowing.verify(key);
  expect(await revokeApiKey(apiKey.id)).toMatchObject({ id: apiKey.id, name: "Left the house" });
  expect(await revokeApiKey(apiKey.id)).toBeUndefined();
  expect(await createKeyVerifier().verify(key)).toBeUndefined();
  nowMs += keyCacheMs;
  expect(await knowing.verify(key)).toBeUndefined();
});

test("keys that are tried by the thousand at once drive no good one out of memory", async () => {
  const nowMs = Date.now();
  const verifier = createKeyVerifier({ now: () => nowMs });
  const { key, apiKey } = await createApiKey({ name: "Good", role: "viewer" });
  await verifier.verify(key);
  const tried = Array.from({ length: 1_100 }, (_, index) => `mr_${String(index).padStart(16, "0")}_${"x".repeat(43)}`);
  await Promise.allSettled(tried.map((text) => verifier.verify(text)));
  // What is still taken after that is what was remembered.
  await revokeApiKey(apiKey.id);
  expect(await verifier.verify(key)).toMatchObject({ name: "Good" });
});

test("a key ends when its time is over, also where it is remembered", async () => {
  let nowMs = Date.now();
  const verifier = createKeyVerifier({ now: () => nowMs });
  const expiresAt = new Date(nowMs + keyCacheMs / 2).toISOString();
  const { key } = await createApiKey({ name: "Guest", role: "viewer", expiresAt });
  expect(await verifier.verify(key)).toMatchObject({ expiresAt });
  nowMs += keyCacheMs / 2;
  expect(await verifier.verify(key)).toBeUndefined();
});

test("a use is written down once a minute, and brings no revoked key back", async () => {
  let nowMs = Date.now();
  const verifier = createKeyVerifier({ now: () => nowMs });
  const { key, apiKey } = await createApiKey({ name: "Used", role: "viewer" });
  const lastUsedAt = async () => {
    const { items } = await listApiKeys({ limit: 1_000 });
    return items.find(({ id }) => id === apiKey.id)?.lastUsedAt;
  };
  const first = new Date(nowMs).toISOString();
  await verifier.verify(key);
  await expect.poll(lastUsedAt).toBe(first);
  nowMs += minute - 1;
  await verifier.verify(key);
  nowMs += 1;
  expect(await lastUsedAt()).toBe(first);
  nowMs += keyCacheMs;
  await verifier.verify(key);
  await expect.poll(lastUsedAt).toBe(new Date(nowMs).toISOString());
  nowMs += minute + keyCacheMs;
  const verified = verifier.verify(key);
  await revokeApiKey(apiKey.id);
  await verified;
  expect(await lastUsedAt()).toBeUndefined();
});

test("keys are listed page by page, without what proves them, and one broken record hides no other", async () => {
  const { apiKey } = await createApiKey({ name: "Listed", role: "viewer" });
  const { apiKey: broken } = await createApiKey({ name: "Broken", role: "viewer" });
  const crown = { name: "crownKey", lua: `return redis.call("HSET", record(ARGV[1]), "role", "emperor")` };
  await runKeyScript(crown, broken.id);
  const names: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listApiKeys({ cursor, limit: 2 });
    names.push(...page.items.map(({ id }) => id));
    expect(JSON.stringify(page)).not.toContain("digest");
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  expect(names).toContain(apiKey.id);
  expect(names).not.toContain(broken.id);
  expect(names).toEqual(names.toSorted());
});

test("a key that would manage keys is for no single workspace, and none is made for the past", async () => {
  await expect(createApiKey({ name: "x", role: "admin", workspaceId: "ws-1" })).rejects.toThrow("role admin");
  await expect(createApiKey({ name: "x", role: "viewer", expiresAt: "2020-01-01T00:00:00Z" })).rejects.toThrow("come");
});
