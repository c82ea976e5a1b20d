import { createHash, timingSafeEqual } from "node:crypto";
import type { ApiKey, KeyVerifier } from "@millrace/access";
import type { Caller } from "./caller.ts";

/** Tells who holds a key. */
export interface Callers {
  /** By the key as it was sent, right or wrong. */
  withKey(key: string): Promise<Caller | undefined>;
  /** By the id of a key that was shown before: that it is still in force. */
  withId(keyId: string): Promise<Caller | undefined>;
}

/**
 * The keys of API_KEYS, which are admin keys and need no Redis, and those that were made since.
 *
 * @param environmentKeys as API_KEYS lists them
 */
export function createCallers(environmentKeys: readonly string[], made: KeyVerifier): Callers {
  const fixed = environmentKeys.map((key, index) => {
    // Digests have one length, which the constant-time comparison needs; and the beginning of one tells nobody the key.
    const keyDigest = digest(key);
    const caller: Caller = {
      keyId: `env-${keyDigest.toString("hex").slice(0, 12)}`,
      keyName: `API_KEYS[${index}]`,
      role: "admin",
    };
    return { keyDigest, caller };
  });
  return {
    withKey: async (key) => {
      const given = digest(key);
      // All are compared, so that the time tells nothing of which one it was.
      const [found] = fixed.filter(({ keyDigest }) => timingSafeEqual(keyDigest, given));
      return found?.caller ?? toCaller(await made.verify(key));
    },
    withId: async (keyId) =>
      fixed.find(({ caller }) => caller.keyId === keyId)?.caller ?? toCaller(await made.find(keyId)),
  };
}

function toCaller(apiKey: ApiKey | undefined): Caller | undefined {
  if (!apiKey) return undefined;
  const { id: keyId, name: keyName, role, workspaceId } = apiKey;
  return { keyId, keyName, role, ...(workspaceId !== null && { workspaceId }) };
}

function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
